"""h5select against numpy: every option, kinds of tables, storage, errors."""

import json
import os
import re
import signal
import subprocess
import time

import h5py
import numpy as np
import pandas as pd
import pytest
import tables
from support import SANITIZED, load, make, ok, program, refused, run, same_bytes, storage

N = 5000
TEXTS = ["north", "south é", ""]


def columns(n=N):
    rng = np.random.default_rng(11)
    energy = rng.standard_normal(n)
    energy[rng.integers(0, n, n // 10)] = np.nan
    return {
        "time": np.sort(rng.integers(0, 50, n)).astype(">i4"),
        "energy": energy,
        "site": rng.choice(np.array([b"north", b"south", b"eas"], "S6"), n),
        "wave": (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype("c16"),
        "position": rng.standard_normal((n, 3)).astype("f4"),
        "good": rng.integers(0, 2, n).astype(bool),
        "half": rng.standard_normal(n).astype("f2"),
        "id": np.arange(n, dtype="u8") + np.uint64(2**64 - n),
    }


@pytest.fixture(name="events", scope="module")
def events_fixture(tmp_path_factory):
    """A group with columns of many types and storages, and beside it masks."""
    path = tmp_path_factory.mktemp("events") / "events.h5"
    data = columns()
    with h5py.File(path, "w") as file:
        group = file.create_group("events")
        group.attrs["run"] = 12
        for name, values in data.items():
            chunked = {"chunks": (300,) + values.shape[1:], "compression": "gzip", "shuffle": True,
                       "maxshape": (None,) + values.shape[1:]}
            options = chunked if name in ("time", "position", "wave", "good") else {}
            group.create_dataset(name, data=values, **options).attrs["long_name"] = name.upper()
        text = [TEXTS[i % 3] * (i % 4) for i in range(N)]
        group.create_dataset("text", data=text, dtype=h5py.string_dtype(), chunks=(177,), compression="gzip")
        file["mask"] = np.arange(N) % 3 == 0
        file["numbers"] = (np.arange(N) % 4).astype("u2")
        file["short"] = np.ones(N - 1, bool)
        file["reals"] = np.ones(N)
        file["square"] = np.ones((N, 2), bool)
    data["text"] = np.array([t.encode() for t in text], object)
    return path, data


def check_rows(path, group, data, mask):
    with h5py.File(path, "r") as file:
        for name, values in data.items():
            got = file[group][name][()]
            if values.dtype == object:
                assert got.tolist() == values[mask].tolist(), name
            else:
                same_bytes(got, values[mask])


CONDITIONS = [
    ("time < 10", lambda d: d["time"] < 10),
    ("energy > 0", lambda d: d["energy"] > 0),
    ("!(energy > 0)", lambda d: ~(d["energy"] > 0)),
    ("isnan(energy) || abs(energy) < 0.5", lambda d: np.isnan(d["energy"]) | (np.abs(d["energy"]) < 0.5)),
    ("site == 'north' && good", lambda d: (d["site"] == b"north") & d["good"]),
    ("site in ('north', 'eas') and not good", lambda d: np.isin(d["site"], [b"north", b"eas"]) & ~d["good"]),
    ("position[1] > position[2]", lambda d: d["position"][:, 1] > d["position"][:, 2]),
    ("wave.r < wave.i", lambda d: d["wave"].real < d["wave"].imag),
    ("half between 0 and 1", lambda d: (d["half"] >= 0) & (d["half"] <= 1)),
    ("id > 18446744073709550000", lambda d: d["id"] > np.uint64(18446744073709550000)),
    ("id > -1 and row % 3 == 1", lambda d: np.arange(N) % 3 == 1),
    ("text == 'north'", lambda d: d["text"] == b"north"),
    ("text in ('', 'south é')", lambda d: np.isin(d["text"].astype("S"), [b"", "south é".encode()])),
    ("time % 7 == 3 or time << 1 > 90", lambda d: (d["time"] % 7 == 3) | (d["time"] * 2 > 90)),
    ("\"time\" >= 25", lambda d: d["time"] >= 25),
    ("time > 1000", lambda d: np.zeros(N, bool)),
    ("true", lambda d: np.ones(N, bool)),
    ("good", lambda d: d["good"]),
    ("good == 1 && !false", lambda d: d["good"]),
]


@pytest.mark.parametrize("text, reference", CONDITIONS, ids=[c[0] for c in CONDITIONS])
def test_conditions(events, tmp_path, text, reference):
    path, data = events
    mask = np.asarray(reference(data), bool)
    out, rest = tmp_path / "out.h5", tmp_path / "rest.h5"
    ok("h5select", f"{path}:/events", "--where", text, "-o", out, "--rest", rest, "--indices", "rows")
    check_rows(out, "events", data, mask)
    check_rows(rest, "events", data, ~mask)
    same_bytes(load(out, "rows"), np.flatnonzero(mask))
    assert ok("h5select", f"{path}:/events", "--where", text, "--count") == f"{mask.sum()}\n"
    assert ok("h5select", f"{path}:/events", "--where", text, "--count", "--invert") == f"{(~mask).sum()}\n"


@pytest.mark.parametrize("limit", [16, 24, 64, 320, 616, 624, 632])
def test_more_rows_than_memory_notes(events, tmp_path, limit):
    """Bits beyond a limit of memory lie in a file without a name: at limits around those of chunks and of all rows."""
    path, data = events
    out, rest = tmp_path / "out.h5", tmp_path / "rest.h5"
    folder = tmp_path / "tmp"
    folder.mkdir()
    small = {"env": os.environ | {"LOOKBACK_MARK_MEMORY": str(limit)}}
    mask = data["energy"] > 0.5
    ok("h5select", f"{path}:/events", "--where", "energy > 0.5", "-o", out, "--rest", rest, "--indices", "rows", "-T",
       folder, **small)
    check_rows(out, "events", data, mask)
    check_rows(rest, "events", data, ~mask)
    same_bytes(load(out, "rows"), np.flatnonzero(mask))
    assert ok("h5select", f"{path}:/events", "--where", "energy > 0.5", "--count", **small) == f"{mask.sum()}\n"
    assert not os.listdir(folder)
    x = make(tmp_path / "x.h5", x=np.arange(1000))
    whole = ok("h5select", x, "--where", "x % 3 == 0", "--explain")
    assert ok("h5select", x, "--where", "x % 3 == 0", "--explain", **small) == whole
    if limit < N // 8:
        message = refused("h5select", f"{path}:/events", "--where", "energy > 0.5", "--count", "-T", "/proc", **small)
        assert message.startswith("/proc: a temporary file cannot be used") and "--tmp" in message


@pytest.mark.parametrize("left_out", [0, 6, 15])
@pytest.mark.parametrize("sides", [("-o",), ("--rest",), ("-o", "--rest")])
def test_rows_that_are_held_until_they_are_moved(tmp_path, sides, left_out):
    """All rows of the condition's columns, or the first batch of two, or none, as many MiB of memory as are left out."""
    k, v = np.arange(2_000_000) // 8 % 251, np.arange(2_000_000, dtype="u2")
    path = make(tmp_path / "in.h5", t__k=(k, {"chunks": (100_000,), "compression": 1}), t__v=v)
    words = [f"{path}:/t", "--where", "k < 50", "-@", 1]
    for side in sides:
        words += [side, tmp_path / f"{side}.h5"]
    whole = float(re.search(r"memory +at most ([\d.]+) MiB", ok("h5select", *words, "--dry-run")).group(1))
    ok("h5select", *words, "-S", f"{whole - left_out + 0.01:.2f}MiB", "--json", tmp_path / "report")
    for side in sides:
        check_rows(tmp_path / f"{side}.h5", "t", {"k": k, "v": v}, (k < 50) == (side == "-o"))
    if not SANITIZED:  # whose own memory hides ours
        assert json.loads((tmp_path / "report").read_text())["peak_memory_bytes"] < (whole - left_out) * 2**20


def test_storage_and_attributes_are_kept(events, tmp_path):
    path, _ = events
    out = tmp_path / "out.h5"
    ok("h5select", f"{path}:/events", "--where", "time < 25", "-o", out)
    with h5py.File(path, "r") as before, h5py.File(out, "r") as after:
        assert dict(after["events"].attrs) == {"run": 12}
        for name in before["events"]:
            kept, was = storage(after["events"][name]), storage(before["events"][name])
            if was["maxshape"][0] is not None:
                assert kept.pop("maxshape")[1:] == was.pop("maxshape")[1:]
            assert kept == was, name
    ok("h5select", f"{path}:/events", "--where", "time < 25", "-o", out, "--truncate", "-f", "GZIP=1", "--chunk", 50)
    with h5py.File(out, "r") as after:
        assert after["events/energy"].chunks == (50,) and after["events/energy"].compression == "gzip"


@pytest.mark.parametrize("mask, expected", [
    ("good", lambda d: d["good"]),
    ("/events/good", lambda d: d["good"]),
    ("mask", lambda d: np.arange(N) % 3 == 0),
    ("/numbers", lambda d: np.arange(N) % 4 != 0),
    ("FILE:/mask", lambda d: np.arange(N) % 3 == 0),
])
def test_masks(events, tmp_path, mask, expected):
    path, data = events
    out = tmp_path / "out.h5"
    ok("h5select", f"{path}:/events", "--mask", mask.replace("FILE", str(path)), "-o", out)
    check_rows(out, "events", data, expected(data))


@pytest.mark.parametrize("text", ["10:20", ":7", "-5:", ":-4990", "::1000", "3:4000:17", "20:10", "4999:9999", "-9999:3",
                                  "0:0", "5000:", ":", "1::9223372036854775807"])
def test_slices(events, tmp_path, text):
    path, data = events
    index = np.arange(N)[slice(*[int(p) if p else None for p in text.split(":")])]
    mask = np.isin(np.arange(N), index)
    out = tmp_path / "out.h5"
    ok("h5select", f"{path}:/events", "--rows", text, "-o", out, "--rest", f"{out}:/others")
    check_rows(out, "events", data, mask)
    check_rows(out, "others", data, ~mask)


def test_unique_keeps_the_first_of_equal_neighbours(tmp_path):
    a = np.array([1, 1, np.nan, np.nan, 0.0, -0.0, 1, 1], ">f8")
    b = ["x", "x", "x", "y", "y", "y", "y", ""]
    path = make(tmp_path / "in.h5", t__a=a, t__row=np.arange(8))
    with h5py.File(path, "a") as file:
        file["t"].create_dataset("b", data=b, dtype=h5py.string_dtype(), chunks=(3,))

    def rows(*words):
        ok("h5select", f"{path}:/t", *words, "-o", tmp_path / "out.h5", "--truncate")
        return load(tmp_path / "out.h5", "t/row").tolist()

    assert rows("--unique", "a") == [0, 2, 4, 6]
    assert rows("--unique", "b") == [0, 3, 7]
    assert rows("--unique", "a,b") == [0, 2, 3, 4, 6, 7]
    assert rows("--unique", "a", "--where", "row != 2 && row % 2 == 0") == [0, 4, 6]
    assert rows("--unique", "a", "--where", "row < 2", "--invert") == [2, 4, 6]
    assert "no column 'c'" in refused("h5select", f"{path}:/t", "--unique", "c", "--count")


def test_unique_across_batches(tmp_path):
    values = np.repeat(np.arange(3, dtype="i8"), [1_500_000, 1_000_001, 7])
    path = make(tmp_path / "in.h5", x=values)
    ok("h5select", path, "--unique", "x", "-o", tmp_path / "out.h5", "--indices", "i")
    assert load(tmp_path / "out.h5", "x").tolist() == [0, 1, 2]
    assert load(tmp_path / "out.h5", "i").tolist() == [0, 1_500_000, 2_500_001]


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1024, 1000003])
def test_sizes(tmp_path, size):
    values = (np.arange(size) * 2654435761 % 1000).astype("i4")
    path = make(tmp_path / "in.h5", x=(values, {"chunks": (4096,), "maxshape": (None,), "compression": "gzip"}))
    for threads in (1, 3):
        ok("h5select", path, "--where", "x < 500", "-@", threads, "-o", tmp_path / "out.h5", "--overwrite")
        same_bytes(load(tmp_path / "out.h5", "x"), values[values < 500])
    with h5py.File(tmp_path / "out.h5", "r") as file:
        assert file["x"].maxshape == (None,)


def test_explain_the_worked_example(tmp_path):
    path = make(tmp_path / "in.h5", x=np.array([7, 2, 9, 4, 5, 8, 1, 6]))
    assert ok("h5select", path, "--where", "x >= 5", "--explain") == (
        "input    7 2 9 4 5 8 1 6\n"
        "flags    1 0 1 0 1 1 0 1\n"
        "offsets  0 1 1 2 2 3 4 4\n"
        "kept     7 9 5 8 6\n"
        "length   5\n")
    big = make(tmp_path / "big.h5", x=np.arange(1001))
    assert "1001 rows" in refused("h5select", big, "--where", "x > 1", "--explain")
    path = make(tmp_path / "t.h5", t__a=[1, 2], t__name=np.array([b"x", b"yy"]))
    assert ok("h5select", path, "--where", "a == 2", "--explain").splitlines() == [
        "a         1 2", "name      'x' 'yy'", "flags     0 1", "offsets   0 0", "kept a    2", "kept name 'yy'", "length    1"]


def test_compound_rows(tmp_path):
    kind = np.dtype([("t", ">i4"), ("pos", "f4", (3,)), ("in", [("flag", "i1"), ("name", "S4")]), ("v", h5py.string_dtype())])
    rows = np.zeros(700, kind)
    rows["t"] = np.arange(700) % 13
    rows["pos"] = np.arange(2100).reshape(700, 3)
    rows["in"]["flag"] = np.arange(700) % 2
    rows["in"]["name"] = np.array([b"ab", b"cd", b""])[np.arange(700) % 3]
    rows["v"] = [b"v%d" % (i % 5) for i in range(700)]
    path = make(tmp_path / "in.h5", rows=(rows, {"chunks": (64,), "compression": "gzip"}))
    for text, mask in [("t > 5", rows["t"] > 5), ("pos[2] < 900 && in.flag", (rows["pos"][:, 2] < 900) & (rows["in"]["flag"] == 1)),
                       ("in.name == 'cd'", rows["in"]["name"] == b"cd"), ("v == 'v3'", rows["v"] == b"v3")]:
        ok("h5select", path, "--where", text, "-o", tmp_path / "out.h5", "--rest", f"{tmp_path}/rest.h5", "--truncate")
        for file, kept in (("out.h5", mask), ("rest.h5", ~mask)):
            got = load(tmp_path / file, "rows")
            assert got.dtype == rows.dtype and repr(got.tolist()) == repr(rows[kept].tolist())
    ok("h5select", path, "--where", "v == 'v3'", "--columns", "in,t", "-o", tmp_path / "out.h5", "--truncate")
    got = load(tmp_path / "out.h5", "rows")
    assert got.dtype.names == ("in", "t") and got["t"].tolist() == rows["t"][rows["v"] == b"v3"].tolist()


def test_columns_that_are_not_written_may_decide(events, tmp_path):
    path, data = events
    ok("h5select", f"{path}:/events", "--where", "time < 9 && text == ''", "--columns", "id,energy", "-o", tmp_path / "out.h5")
    mask = (data["time"] < 9) & (data["text"] == b"")
    with h5py.File(tmp_path / "out.h5", "r") as file:
        assert sorted(file["events"]) == ["energy", "id"]
    check_rows(tmp_path / "out.h5", "events", {"id": data["id"], "energy": data["energy"]}, mask)


def test_pytables_and_pandas(tmp_path):
    class Row(tables.IsDescription):
        energy = tables.Float64Col()
        name = tables.StringCol(8)
        hits = tables.Int32Col(shape=(2,))

    with tables.open_file(str(tmp_path / "pt.h5"), "w") as file:
        table = file.create_table("/", "run", Row, filters=tables.Filters(5, "zlib"), title="")
        for i in range(1000):
            table.row["energy"], table.row["name"], table.row["hits"] = i * 0.5, f"n{i % 3}", (i, -i)
            table.row.append()
    ok("h5select", f"{tmp_path}/pt.h5:/run", "--where", "energy > 100 && name == 'n1' && hits[1] < -300", "-o", tmp_path / "o.h5")
    with tables.open_file(str(tmp_path / "o.h5")) as file, tables.open_file(str(tmp_path / "pt.h5")) as before:
        expected = before.root.run.read_where("(energy > 100) & (name == b'n1')")
        assert file.root.run[:].tobytes() == expected[expected["hits"][:, 1] < -300].tobytes()
        assert file.root.run.filters.complevel == 5
    frame = pd.DataFrame({"a": np.arange(50.0), "b": [f"k{i % 4}" for i in range(50)]})
    frame.to_hdf(tmp_path / "pd.h5", "frame", format="table", data_columns=True)
    ok("h5select", f"{tmp_path}/pd.h5:/frame", "--where", "a >= 10 && b == 'k2'", "-o", tmp_path / "pd2.h5")
    expected = frame[(frame.a >= 10) & (frame.b == "k2")]
    pd.testing.assert_frame_equal(pd.read_hdf(tmp_path / "pd2.h5", "frame"), expected)


def test_names_that_need_quotes(tmp_path):
    path = make(tmp_path / "in.h5", **{"t__odd name": np.arange(4), "t__row": np.array([3, 2, 1, 0]), "t__é": np.arange(4)})
    assert ok("h5select", f"{path}:/t", "--where", '"odd name" > 1 && é > 2', "--count") == "1\n"
    assert ok("h5select", f"{path}:/t", "--where", '"row" > row', "--count") == "2\n"
    assert ok("h5select", f"{path}:/t", "--where", "row > 1", "--columns", "odd name", "--count") == "2\n"


def test_enums_spaces_and_odd_numbers(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        group = file.create_group("t")
        color = h5py.enum_dtype({"RED": 0, "GREEN": 7}, "i2")
        group.create_dataset("color", data=np.array([0, 7, 7]), dtype=color)
        spaces = h5py.h5t.C_S1.copy()
        spaces.set_size(5)
        spaces.set_strpad(h5py.h5t.STR_SPACEPAD)
        space = h5py.h5s.create_simple((3,))
        h5py.h5d.create(group.id, b"name", spaces, space).write(space, space, np.array([b"ab   ", b"abc  ", b"     "], "S5"), mtype=spaces)
        ended = h5py.h5t.C_S1.copy()
        ended.set_size(5)
        ended.set_strpad(h5py.h5t.STR_NULLTERM)
        h5py.h5d.create(group.id, b"ended", ended, space).write(space, space, np.array([b"ab\0xy", b"abc", b""], "S5"), mtype=ended)
        three = h5py.h5t.STD_I32LE.copy()
        three.set_size(3)
        three.set_precision(24)
        h5py.h5d.create(group.id, b"three", three, space).write(space, space, np.array([-5, 100000, 3], "i4"))

    def count(text):
        return int(ok("h5select", f"{tmp_path}/in.h5:/t", "--where", text, "--count"))

    assert count("color == 7") == 2
    assert (count("name == 'ab'"), count("name == ''"), count("name > 'ab'")) == (1, 1, 1)
    assert (count("ended == 'ab'"), count("ended == ''")) == (1, 1)
    assert (count("three < 0"), count("three == 100000")) == (1, 1)


def test_sparse_rows_read_only_their_chunks(tmp_path):
    values = np.arange(1_000_000)
    chunked = {"chunks": (10_000,), "compression": "gzip", "shuffle": True}
    path = make(tmp_path / "in.h5", t__a=(values, chunked), t__b=(values * 3, chunked))
    ok("h5select", f"{path}:/t", "--where", "a in (5, 777777)", "-o", tmp_path / "out.h5", "--json", tmp_path / "r.json")
    assert load(tmp_path / "out.h5", "t/b").tolist() == [15, 777777 * 3]
    report = json.loads((tmp_path / "r.json").read_text())
    # Column a as a whole, whose rows are held, and of the other column the two chunks.
    assert report["bytes_in"] == 8_000_000 + 2 * 80_000
    assert (report["rows_in"], report["rows_out"]) == (1_000_000, 2)


def test_virtual_scalar_and_empty(tmp_path):
    path = make(tmp_path / "in.h5", none=np.zeros(0, "f4"), one=np.float64(3))
    assert ok("h5select", f"{path}:/none", "--where", "none > 1", "--count") == "0\n"
    ok("h5select", f"{path}:/none", "--where", "none > 1", "-o", tmp_path / "out.h5")
    assert load(tmp_path / "out.h5", "none").shape == (0,)
    assert ok("h5select", f"{path}:/one", "--where", "one > 1", "--count") == "1\n"


def test_same_file_and_existing_objects(tmp_path):
    path = make(tmp_path / "in.h5", x=np.arange(10))
    ok("h5select", f"{path}:/x", "--where", "x > 6", "-o", f"{path}:/y", "--rest", f"{path}:/z")
    assert load(path, "y").tolist() == [7, 8, 9] and load(path, "z").tolist() == list(range(7))
    assert "exists" in refused("h5select", f"{path}:/x", "--where", "x > 6", "-o", f"{path}:/y")
    ok("h5select", f"{path}:/x", "--where", "x > 7", "-o", path, "--overwrite")
    assert load(path, "x").tolist() == [8, 9]


def test_report_and_dry_run(events, tmp_path):
    path, data = events
    text = ok("h5select", f"{path}:/events", "--where", "time < 3", "-o", tmp_path / "out.h5", "-n")
    assert "where time < 3" in text and "decide  /events/time" in text and not (tmp_path / "out.h5").exists()
    report = json.loads(ok("h5select", f"{path}:/events", "--where", "time < 3", "--count", "--json", "-"))
    assert report["app"] == "h5select" and report["rows_out"] == (data["time"] < 3).sum()
    assert report["condition"] == "where time < 3" and report["bytes_in"] == N * 4
    process = run("h5select", f"{path}:/events", "--where", "time < 3", "--count", "--progress", "on")
    assert process.returncode == 0 and "h5select:" in process.stderr


ERRORS = [
    (["--where", "nothing > 1", "--count"], "column 1: ", "no column 'nothing'"),
    (["--where", "tiem > 1", "--count"], "did you mean 'time'?", ""),
    (["--where", 'site == "north"', "--count"], "column 9: ", "text stands in single quotes"),
    (["--where", "time > 1 &&", "--count"], "column 12", "expected"),
    (["--where", "position > 1", "--count"], "3 values a row", "position[0]"),
    (["--where", "position[3] > 1", "--count"], "numbered from 0", ""),
    (["--where", "wave > 1", "--count"], "cannot be compared", "wave.r"),
    (["--where", "site > 1", "--count"], "text is compared", "column 8"),
    (["--where", "energy", "--count"], "no condition", ""),
    (["--where", "time % (time - time) == 0", "--count"], "row 0", "division by zero"),
    (["--where", "", "--count"], "column 1", "expected"),
    (["--mask", "short", "--count"], "4999 rows", "5000"),
    (["--mask", "reals", "--count"], "booleans or integers", ""),
    (["--mask", "square", "--count"], "booleans or integers", ""),
    (["--mask", "nowhere", "--count"], "no such dataset", ""),
    (["--rows", "5", "--count"], "'5' is not A:B", ""),
    (["--rows", "a:b", "--count"], "'a:b' is not A:B", ""),
    (["--rows", "5:1:-1", "--count"], "at least 1", ""),
    (["--rows", "::0", "--count"], "at least 1", ""),
    (["--where", "good", "--rows", "1:2", "--count"], "exclude each other", ""),
    (["--where", "good", "--mask", "good", "--count"], "exclude each other", ""),
    (["--count"], "--where EXPR", ""),
    (["--unique", "time", "--invert", "--count"], "--invert needs", ""),
    (["--where", "good"], "no output given", ""),
    (["--where", "good", "--indices", "i", "--count"], "needs -o", ""),
    (["--where", "good", "--count", "--columns", "zzz"], "zzz", ""),
    (["--where", "good", "--count", "--backend", "cuda"], "", ""),
    (["--where", "good", "--wehre", "x"], "--where", ""),
    (["--where", "good", "--count", "-S", "1M"], "--memory allows", ""),
]


@pytest.mark.parametrize("words, said, also", ERRORS, ids=[" ".join(e[0]) for e in ERRORS])
def test_errors(events, words, said, also):
    message = refused("h5select", f"{events[0]}:/events", *words)
    assert said in message and also in message


def test_outputs_that_meet_are_refused(events, tmp_path):
    path, _ = events
    for words in (["--rest", tmp_path / "o.h5"], ["--indices", "events"], ["--indices", "/events/time"]):
        message = refused("h5select", f"{path}:/events", "--where", "good", "-o", tmp_path / "o.h5", *words)
        assert "the output itself" in message
    assert not (tmp_path / "o.h5").exists()


def test_unequal_lengths_name_the_columns(tmp_path):
    path = make(tmp_path / "in.h5", t__a=np.arange(5), t__b=np.arange(5) * 2, t__offsets=[0, 5])
    assert "differ in rows" in refused("h5select", f"{path}:/t", "--where", "a > 1", "--count")
    ok("h5select", f"{path}:/t", "--where", "a > 1", "--columns", "a,b", "--copy-rest", "-o", tmp_path / "out.h5")
    assert load(tmp_path / "out.h5", "t/b").tolist() == [4, 6, 8] and load(tmp_path / "out.h5", "t/offsets").tolist() == [0, 5]


def test_a_killed_run_leaves_the_old_file(tmp_path):
    rng = np.random.default_rng(1)
    source = make(tmp_path / "in.h5", x=(rng.standard_normal(4_000_000), {"chunks": (10_000,), "compression": "gzip"}))
    out = make(tmp_path / "out.h5", old=np.arange(3))
    before = out.read_bytes()
    with subprocess.Popen([program("h5select"), str(source), "--where", "x > 0", "-o", str(out)]) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        process.wait()
    assert process.returncode in (0, -signal.SIGTERM)
    if process.returncode != 0:
        assert out.read_bytes() == before
        assert sorted(os.listdir(tmp_path)) == ["in.h5", "out.h5"]
