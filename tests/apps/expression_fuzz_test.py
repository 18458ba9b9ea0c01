"""Random expressions over random tables against exact integers and numpy's floats: some thousands here, by the CPU
and by the kernels, on the emulated device and on a GPU.

For more: expression_reference.py PROGRAM CASES SEED.
"""

import os
import pathlib
import subprocess

import pytest
from expression_reference import disagreements
from support import BUILD

CASES = int(os.environ.get("LOOKBACK_FUZZ_CASES", "1000"))


def program_of(kind):
    """The program that evaluates cases; skips, and says why, where it cannot run here."""
    name = BUILD / ("tests/expression_cases" + ("" if kind == "cpu" else f"_{kind}"))
    required = kind == "cpu" or (kind == "cuda" and os.environ.get("LOOKBACK_REQUIRE_CUDA") == "1")
    if not pathlib.Path(name).exists():
        assert not required, f"{name} is not built"
        pytest.skip(f"{name.name} is not built here")
    said = subprocess.run([name], input="0 1 4\ntrue", stdout=subprocess.PIPE, text=True, check=False).stdout
    if said not in ("ok 1\n", "ok 1 terms\n"):
        assert not required, said
        pytest.skip(f"no GPU here: {said.strip()}")
    return str(name)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["cpu", "emulated", "cuda"])
def test_random_expressions(kind, seed):
    found, ran = disagreements(program_of(kind), CASES, seed)
    assert found == []
    assert ran >= CASES


@pytest.mark.parametrize("kind", ["emulated", "cuda"])
def test_random_range_tests(kind):
    """Each is run as range tests, not step by step: the answer says so."""
    found, ran = disagreements(program_of(kind), CASES, 11, ranges=True)
    assert found == []
    assert ran >= CASES


def test_a_disagreement_is_found(tmp_path):
    liar = tmp_path / "liar"
    liar.write_text("#!/usr/bin/python3\nimport sys\nwhile sys.stdin.buffer.readline():\n    print('ok 0', flush=True)\n    break\n")
    liar.chmod(0o755)
    try:
        found, _ = disagreements(str(liar), 1, 0)
    except BrokenPipeError:
        return
    assert found
