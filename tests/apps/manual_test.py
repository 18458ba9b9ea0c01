"""Every app's manual page and --help tell the same options."""

import re
import shutil
import subprocess

import pytest
from support import SOURCE, ok

APPS = ["h5scan", "h5select", "h5sort"]


@pytest.mark.parametrize("app", APPS)
def test_every_option_is_in_help_and_manual(app):
    manual = (SOURCE / f"docs/man/{app}.1").read_text().replace("\\-", "-")
    text = ok(app, "--help")
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) | set(re.findall(r"^  (-[A-Za-z@]),", text, re.MULTILINE))
    assert len(options) > 30
    for option in options:
        assert re.search(re.escape(option) + r"(?![\w-])", manual), f"{option} is not in the manual"
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", manual)):
        assert option in options, f"{option} is in the manual alone"


@pytest.mark.parametrize("app", APPS)
def test_manual_is_well_formed(app):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    process = subprocess.run(["groff", "-man", "-Tutf8", "-ww", SOURCE / f"docs/man/{app}.1"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")
