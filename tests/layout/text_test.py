"""What no file of the tree may hold: paths of one machine, unfinished work, headers without end."""

import re
import subprocess

import pytest
from source_tree import ROOT, sources

HEADER_LINES = 330  # "at most ~300" of the design, with some slack
BINARY = {".h5", ".png", ".svg"}
FORBIDDEN = [
    (re.compile(r"(?<![\w.-])/(?:home|root|work|Users)/[\w.]"), "a path of one machine"),
    (re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b"), "unfinished work"),
    (re.compile(r"^(?:<{7}|={7}|>{7})(?: |$)", re.MULTILINE), "a merge conflict"),
    (re.compile(r"[ \t]+$", re.MULTILINE), "blanks at the end of a line"),
]


def tracked(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], stdout=subprocess.PIPE, check=False)
    if listed.returncode != 0:
        pytest.skip("this is not a git checkout")
    return [name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()]


def faults(root, names):
    found = []
    for name in names:
        if any(name.endswith(suffix) for suffix in BINARY) or name == "LICENSE":
            continue
        text = (root / name).read_text()
        for pattern, what in FORBIDDEN:
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: {what}: {match[0]!r}")
        if name.endswith((".hpp", ".h", ".cuh")) and text.count("\n") > HEADER_LINES:
            found.append(f"{name}: {text.count(chr(10))} lines; at most {HEADER_LINES}")
    return found


def test_tree():
    assert faults(ROOT, tracked(ROOT)) == []


@pytest.mark.parametrize("text, fault", [
    ("cd /ho" + "me/me/src\n", "path"),
    ("see '/ro" + "ot/.cache'\n", "path"),
    ("// TO" + "DO: the rest\n", "unfinished"),
    ("<<<<<<" + "< HEAD\n", "merge conflict"),
    ("int a; \n", "blanks"),
    ("\n" * (HEADER_LINES + 1), "lines"),
])
def test_each_fault_is_found(tmp_path, text, fault):
    (tmp_path / "a.hpp").write_text(text)
    found = faults(tmp_path, ["a.hpp"])
    assert len(found) == 1 and fault in found[0]


def test_right_text_has_no_faults(tmp_path):
    (tmp_path / "a.hpp").write_text("#include <a/work/b.hpp>\n// https://host/work/x, build/home/x\n" + "\n" * 300)
    assert faults(tmp_path, ["a.hpp"]) == []
