"""h5scan against numpy, through h5py as writer and reader."""

import itertools
import json

import h5py
import numpy as np
import pytest
from support import load, make, ok, refused


def run(*words):
    return ok("h5scan", *words)


def fails(*words):
    return refused("h5scan", *words)


@pytest.fixture
def where(tmp_path):
    return tmp_path


def write(path, **datasets):
    path.unlink(missing_ok=True)
    return make(path, **datasets)


def read(path, name="x"):
    return load(path, name)


OPS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
       "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@pytest.mark.parametrize("kind", ["i1", "<i2", ">i4", "<i8", "u1", ">u2", "<u4", ">u8"])
@pytest.mark.parametrize("op", sorted(OPS))
def test_integers(where, kind, op):
    values = np.random.default_rng(1).integers(0, 100, 5000).astype(kind)
    run(write(where / "in.h5", x=values), "--op", op, "--overflow", "wrap", "-o", where / "out.h5")
    got = read(where / "out.h5")
    native = values.astype(np.dtype(kind).newbyteorder("="))
    expected = OPS[op].accumulate(native, dtype=native.dtype)
    assert got.dtype == np.dtype(kind)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", ["f4", ">f8"])
def test_floats(where, kind):
    values = np.random.default_rng(2).integers(-1000, 1000, 70000).astype(kind)
    for op in ("sum", "min", "max"):
        out = where / f"{op}.h5"
        run(write(where / "in.h5", x=values), "--op", op, "-o", out)
        np.testing.assert_array_equal(read(out), OPS[op].accumulate(values.astype(values.dtype.newbyteorder("="))))
        assert read(out).dtype == np.dtype(kind)


def test_exclusive_with_init(where):
    values = np.arange(1, 9, dtype="i4")
    run(write(where / "in.h5", x=values), "--exclusive", "--init", "10", "-o", where / "out.h5")
    np.testing.assert_array_equal(read(where / "out.h5"), 10 + np.r_[0, np.cumsum(values)[:-1]])


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1024])
def test_sizes_and_storage(where, size):
    with h5py.File(where / "in.h5", "w") as file:
        x = file.create_dataset("g/x", data=np.ones(size, "i4"), maxshape=(None,), chunks=(100,),
                                compression="gzip", shuffle=True)
        x.attrs["unit"] = "m"
    run(f"{where}/in.h5:/g/x", "-o", where / "out.h5")
    with h5py.File(where / "out.h5", "r") as file:
        x = file["g/x"]
        np.testing.assert_array_equal(x[()], np.arange(1, size + 1))
        assert x.attrs["unit"] == "m" and x.maxshape == (None,) and x.chunks == (100,)
        assert x.compression == "gzip" and x.shuffle


def test_rows_of_several_items(where):
    values = np.arange(60, dtype="i8").reshape(10, 2, 3)
    run(write(where / "in.h5", x=values), "-o", where / "out.h5")
    np.testing.assert_array_equal(read(where / "out.h5"), np.cumsum(values, axis=0))
    run(write(where / "in.h5", x=values, counts=[3, 0, 7]), "-d", "x", "--segments", "counts",
        "--segments-as", "counts", "--reduce", "-o", where / "r.h5")
    expected = np.stack([values[:3].sum(0), np.zeros((2, 3), int), values[3:].sum(0)])
    np.testing.assert_array_equal(read(where / "r.h5"), expected)


RAGGED = {"offsets": [0, 2, 2, 7, 10], "ends": [2, 2, 7, 10], "starts": [0, 2, 2, 7],
          "counts": [2, 0, 5, 3]}


@pytest.mark.parametrize("kind", sorted(RAGGED))
def test_segments(where, kind):
    values = np.arange(10, dtype="i8")
    path = write(where / "in.h5", x=values, s=np.array(RAGGED[kind], "i4"))
    run(f"{path}:/x", "--segments", "s", "--segments-as", kind, "-o", where / "scan.h5")
    expected = np.concatenate([np.cumsum(part) for part in np.split(values, [2, 2, 7])])
    np.testing.assert_array_equal(read(where / "scan.h5"), expected)
    run(f"{path}:/x", "--segments", "/s", "--segments-as", kind, "--reduce", "-o", where / "r.h5")
    np.testing.assert_array_equal(read(where / "r.h5"), [1, 0, 20, 24])
    run(f"{path}:/x", "--segments", f"{path}:/s", "--segments-as", kind, "--exclusive", "--init",
        "5", "-o", where / "e.h5")
    np.testing.assert_array_equal(read(where / "e.h5"), expected - values + 5)


@pytest.mark.parametrize("source", sorted(RAGGED))
@pytest.mark.parametrize("target", sorted(RAGGED))
def test_conversions(where, source, target):
    path = write(where / "in.h5", x=np.array(RAGGED[source], ">i4"))
    run(path, "--convert", f"{source}:{target}", "--length", "10", "-o", where / "out.h5")
    got = read(where / "out.h5")
    np.testing.assert_array_equal(got, RAGGED[target])
    assert got.dtype == np.dtype(">i4")


def test_conversion_computes_in_64_bits(where):
    path = write(where / "in.h5", x=np.full(3, 200, "u1"))
    assert "does not fit u8; add --dtype i64" in fails(path, "--convert", "counts:offsets", "-o",
                                                       where / "out.h5")
    assert not (where / "out.h5").exists()
    run(path, "--convert", "counts:offsets", "--dtype", "i64", "-o", where / "out.h5")
    np.testing.assert_array_equal(read(where / "out.h5"), [0, 200, 400, 600])


def test_by_runs_of_equal_neighbours(where):
    day = np.array([1, 1, 2, 2, 2, 1, 3])
    fare = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    path = write(where / "in.h5", **{"t__day": day, "t__fare": fare, "t__name": np.array(list("aabbbac"), "S1")})
    run(f"{path}:/t/fare", "--by", "day", "-o", where / "out.h5")
    np.testing.assert_array_equal(read(where / "out.h5", "t/fare"), [1, 3, 4, 12, 28, 32, 64])
    run(f"{path}:/t/fare", "--by", "name", "--reduce", "-o", where / "r.h5")
    np.testing.assert_array_equal(read(where / "r.h5", "t/fare"), [3, 28, 32, 64])
    run(f"{path}:/t", "--columns", "fare", "--by", "day", "--reduce", "-o", where / "g.h5")
    np.testing.assert_array_equal(read(where / "g.h5", "t/fare"), [3, 28, 32, 64])


def test_by_variable_length_strings(where):
    # Longer than a batch; the first rows are never written, and equal the empty string.
    names = ["", "", "a", "a", "ä", "b", "b"] * 50000 + ["b"]
    path = where / "in.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.ones(len(names))
        column = file.create_dataset("name", len(names), h5py.string_dtype(), chunks=1000)
        column[2:] = names[2:]
    run(f"{path}:/x", "--by", "name", "--reduce", "-o", where / "out.h5")
    lengths = [len(list(group)) for _, group in itertools.groupby(names)]
    np.testing.assert_array_equal(read(where / "out.h5"), lengths)


def test_overflow_is_an_error_that_names_the_row(where):
    path = write(where / "in.h5", x=np.full(10, 100, "u1"))
    write(where / "out.h5", x=[7])
    message = fails(path, "-o", where / "out.h5", "--overwrite")
    assert "row 2 does not fit u8" in message and "--dtype" in message and "in.h5:/x" in message
    np.testing.assert_array_equal(read(where / "out.h5"), [7])
    run(path, "--dtype", "u16", "-o", where / "wide.h5")
    assert read(where / "wide.h5").dtype == np.dtype("u2")
    np.testing.assert_array_equal(read(where / "wide.h5"), np.arange(100, 1001, 100))
    run(path, "--overflow", "wrap", "-o", where / "wrap.h5")
    np.testing.assert_array_equal(read(where / "wrap.h5"), np.arange(100, 1001, 100) % 256)
    assert "segment 0 does not fit u8" in fails(path, "--reduce", "-o", where / "r.h5")


def test_bool_sums_count(where):
    path = write(where / "in.h5", x=np.array([True, False, True, True]))
    run(path, "-o", where / "out.h5")
    got = read(where / "out.h5")
    assert got.dtype == np.dtype("i8")
    np.testing.assert_array_equal(got, [1, 1, 2, 3])
    run(path, "--op", "and", "-o", where / "all.h5")
    assert read(where / "all.h5").dtype == np.dtype(bool)
    np.testing.assert_array_equal(read(where / "all.h5"), [True, False, False, False])


def test_reduce_all(where):
    path = write(where / "in.h5", x=np.arange(5.0))
    run(path, "--reduce", "--op", "max", "-o", where / "out.h5")
    np.testing.assert_array_equal(read(where / "out.h5"), [4.0])


def test_reproducible_is_the_same_for_any_thread_count(where):
    values = np.random.default_rng(3).standard_normal(300_000).astype("f4")
    path = write(where / "in.h5", x=values)
    first = None
    for threads in (1, 2, 5, 16):
        run(path, "--reproducible", "-@", threads, "-o", where / "out.h5", "--truncate")
        bits = read(where / "out.h5").tobytes()
        first = first or bits
        assert bits == first
    np.testing.assert_allclose(read(where / "out.h5"), np.cumsum(values, dtype="f8"), atol=0.05)


def test_nan_and_minus_zero(where):
    path = write(where / "in.h5", x=np.array([-0.0, 1.0, np.nan, 2.0]))
    run(path, "--op", "max", "-o", where / "out.h5")
    np.testing.assert_array_equal(read(where / "out.h5"), [-0.0, 1, np.nan, np.nan])


@pytest.mark.parametrize("arguments, said", [
    (["--op", "mean"], "'mean' is none of sum, prod"),
    (["--inclusive", "--exclusive"], "exclude each other"),
    (["--segments-as", "ends"], "needs --segments"),
    (["--segments", "nowhere"], "nowhere"),
    (["--segments", "short"], "the last must be the number of items, 6"),
    (["--segments", "down"], "offset 2 is 1, less than the one before it, 4"),
    (["--segments", "huge"], "the value at row 1 does not fit i64; segments and lengths"),
    (["--segments", "f"], "one row of integers"),
    (["--by", "short"], "one value for each of the 6 rows"),
    (["--init", "1.5"], "'1.5' is no value of type i64"),
    (["--op", "and", "--dtype", "f64"], "bits of integers only"),
    (["--convert", "counts"], "not FROM:TO"),
    (["--convert", "starts:ends"], "--length N"),
    (["--convert", "counts:sizes"], "none of offsets, ends, starts, counts"),
    (["--strategy", "magic"], "'magic' is none of automatic"),
    (["--sgements", "short"], "--segments"),
])
def test_errors(where, arguments, said):
    path = write(where / "in.h5", x=np.arange(6), short=[0, 5], down=[0, 4, 1, 6], f=[0.0, 6.0],
                 huge=np.array([0, 2**63 + 1, 6], "u8"))
    assert said in fails(f"{path}:/x", *arguments, "-o", where / "out.h5")
    assert not (where / "out.h5").exists()


def test_strings_and_rows_of_fields_are_refused(where):
    path = write(where / "in.h5", s=np.array([b"ab", b"c"]),
                 t=np.zeros(3, [("a", "i4"), ("b", "f8")]), h=np.ones(3, "f2"))
    assert "no arithmetic" in fails(f"{path}:/s", "-o", where / "out.h5")
    assert "rows of fields" in fails(f"{path}:/t", "-o", where / "out.h5")
    assert "--dtype f32" in fails(f"{path}:/h", "-o", where / "out.h5")
    run(f"{path}:/h", "--dtype", "f32", "-o", where / "h.h5")
    np.testing.assert_array_equal(read(where / "h.h5", "h"), [1, 2, 3])


def test_report_dry_run_and_same_file(where):
    path = write(where / "in.h5", x=np.arange(6))
    assert "inclusive sum" in run(path, "-o", where / "out.h5", "-n")
    assert not (where / "out.h5").exists()
    run(path, "-o", f"{path}:/cumulative", "--json", where / "report.json")
    np.testing.assert_array_equal(read(path, "cumulative"), np.cumsum(np.arange(6)))
    report = json.loads((where / "report.json").read_text())
    assert report["rows_in"] == 6 and report["rows_out"] == 6 and report["backend"]
    assert "exists" in fails(f"{path}:/x", "-o", f"{path}:/cumulative")
