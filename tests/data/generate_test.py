"""The generators give the shapes that they promise, and the same bytes for the same seed."""

import pathlib
import subprocess
import sys

import h5py
import numpy
import pytest

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
sys.path.insert(0, str(DATA))
import generate  # noqa: E402

ROWS = 20_000


@pytest.mark.parametrize("kind", sorted(generate.KINDS))
@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "f4", "f8"])
def test_same_seed_same_values(kind, dtype):
    if kind in ("skewed", "special") and dtype[0] != "f":
        with pytest.raises(ValueError):
            generate.values(kind, ROWS, dtype)
        return
    one = generate.values(kind, ROWS, dtype, seed=5)
    assert one.dtype == numpy.dtype(dtype) and one.shape == (ROWS,)
    assert one.tobytes() == generate.values(kind, ROWS, dtype, seed=5).tobytes()
    if kind not in ("equal",):
        assert one.tobytes() != generate.values(kind, ROWS, dtype, seed=6).tobytes()


def test_shapes():
    assert (numpy.diff(generate.values("sorted", ROWS, "i8")) >= 0).all()
    assert (numpy.diff(generate.values("reversed", ROWS, "i8")) <= 0).all()
    nearly = generate.values("nearly", ROWS, "u4")
    assert 0 < (numpy.diff(nearly.astype("i8")) < 0).sum() < ROWS // 50
    assert len(set(generate.values("two", ROWS))) == 2
    assert generate.values("narrow", ROWS, "u8").max() < 1 << 20
    _, counts = numpy.unique(generate.values("zipf", ROWS), return_counts=True)
    assert counts.max() > ROWS // 10
    special = generate.values("special", ROWS, "f8")
    assert numpy.isnan(special).any() and numpy.isinf(special).any()
    assert numpy.signbit(special[special == 0]).any() and not numpy.signbit(special[special == 0]).all()


def test_ragged_has_empty_segments_and_ends_at_its_values():
    parts = generate.ragged(ROWS)
    lengths = numpy.diff(parts["offsets"])
    assert parts["offsets"][0] == 0 and parts["offsets"][-1] == len(parts["values"])
    assert (lengths == 0).sum() > ROWS // 10 and abs(lengths.mean() - 5) < 0.5


@pytest.mark.parametrize("kind", ["uniform", "table", "ragged"])
@pytest.mark.parametrize("layout", ["contiguous", "chunked", "gzip"])
@pytest.mark.parametrize("rows", [0, 1000])
def test_command_writes_what_was_asked(tmp_path, kind, layout, rows):
    path = tmp_path / "out.h5"
    subprocess.run([sys.executable, DATA / "generate.py", kind, "--rows", str(rows), "--layout", layout,
                    "-o", path], check=True)
    name = {"uniform": "values", "table": "table/energy", "ragged": "events/offsets"}[kind]
    with h5py.File(path) as file:
        assert len(file[name]) == rows + (kind == "ragged")
        if rows > 0:
            assert file[name].compression == ("gzip" if layout == "gzip" else None)
            assert (file[name].chunks is None) == (layout == "contiguous")
