"""Random expressions over random tables against exact integers and numpy's floats: some thousands here.

For more: expression_reference.py PROGRAM CASES SEED.
"""

import os

import pytest
from expression_reference import disagreements
from support import BUILD

CASES = int(os.environ.get("LOOKBACK_FUZZ_CASES", "1000"))


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions(seed):
    found, ran = disagreements(str(BUILD / "tests/expression_cases"), CASES, seed)
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
