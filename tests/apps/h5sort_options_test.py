"""What h5sort's options mean: unique, check, merge, index, head, segments, reports, help."""

import json
import re

import h5py
import numpy as np
import pytest
from support import SOURCE, load, make, ok, order_by, order_of, refused, run, same_bytes

RNG = np.random.default_rng(99)
GOLDEN = SOURCE / "tests/apps/golden"


def first_of_equal(data, index):
    """The index without rows whose key equals that of the row before."""
    keys = data[index]
    new = np.ones(len(keys), bool)
    equal = keys[1:] == keys[:-1]
    if keys.dtype.kind == "f":
        equal |= np.isnan(keys[1:]) & np.isnan(keys[:-1])
    new[1:] = ~equal
    return index[new]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["i1", "u4", "f8", "f2", "S3"])
def test_unique_values(tmp_path, kind, reverse):
    data = RNG.integers(-20, 20, 5000).astype("S3" if kind == "S3" else "i1").astype(kind)
    if kind[0] == "f":
        data[::7] = np.nan
        data[5], data[3] = 0.0, -0.0
    if kind[0] == "u":
        data = np.abs(data.astype("i8")).astype(kind)
    source, out = make(tmp_path / "in.h5", x=data), tmp_path / "out.h5"
    ok("h5sort", source, "-u", *(["-r"] if reverse else []), "-o", out)
    same_bytes(load(out, "x"), data[first_of_equal(data, order_of(data, descending=reverse))])


def test_unique_rows_keep_the_first(tmp_path):
    key, row = RNG.integers(0, 50, 3000).astype("u4"), np.arange(3000)
    out = tmp_path / "out.h5"
    index = first_of_equal(key, order_of(key))
    two = make(tmp_path / "two.h5", t__key=key, t__row=row)
    three = make(tmp_path / "three.h5", t__key=key, t__row=row, t__more=row * 2.5)
    for source in [two, three]:
        ok("h5sort", f"{source}:/t", "-k", "key", "-u", "-o", out, "--truncate")
        same_bytes(load(out, "t/row"), row[index])
        same_bytes(load(out, "t/key"), key[index])


def test_unique_keeps_chunks_and_unlimited(tmp_path):
    data = RNG.integers(0, 10, 5000)
    source, out = make(tmp_path / "in.h5", x=(data, {"chunks": (500,), "maxshape": (None,), "compression": "gzip"})), tmp_path / "out.h5"
    ok("h5sort", source, "-u", "-o", out)
    with h5py.File(out) as file:
        assert file["x"].shape == (10,) and file["x"].maxshape == (None,) and file["x"].compression == "gzip"


def test_check(tmp_path):
    data = np.arange(100000) // 3
    good = make(tmp_path / "good.h5", x=data)
    data = data.copy()
    data[77777] = 5
    bad = make(tmp_path / "bad.h5", x=data)
    assert ok("h5sort", "-c", good) == ""
    assert ok("h5sort", "--check-quiet", good) == ""
    process = run("h5sort", "-c", bad)
    assert (process.returncode, process.stderr) == (1, "")
    assert process.stdout == f"{bad}:/x: row 77777 is out of order: x 5 after x 25925\n"
    process = run("h5sort", "-C", bad)
    assert (process.returncode, process.stdout, process.stderr) == (1, "", "")
    assert run("h5sort", "-c", "-u", good).stdout == f"{good}:/x: row 1 is out of order: x 0 after x 0\n"
    assert run("h5sort", "-c", "-r", good).returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.h5", "good.h5"]


@pytest.mark.parametrize("row", [1, 511, 512, 513, 4095, 4096, 9_999_999])
def test_check_across_batches(tmp_path, row):
    data = np.arange(10_000_000, dtype="i8")
    data[row] = -1
    source = make(tmp_path / "in.h5", x=(data, {"chunks": (1 << 16,)}))
    process = run("h5sort", "-c", source)
    assert process.returncode == 1 and f": row {row} is out of order" in process.stdout


def test_check_zeros_and_nans(tmp_path):
    good = make(tmp_path / "a.h5", x=np.array([-1, 0.0, -0.0, 0.0, 2, np.nan, -np.nan]))
    ok("h5sort", "-c", good)
    first = make(tmp_path / "b.h5", x=np.array([np.nan, -1, 0.0]))
    assert run("h5sort", "-c", first).returncode == 1
    ok("h5sort", "-c", "-k", "x:nan-first", first)


def test_check_rows(tmp_path):
    a, b = np.array([1, 1, 2, 2]), np.array([5.0, 4.0, 9.5, 9.75])
    source = make(tmp_path / "in.h5", t__a=a, t__b=b)
    ok("h5sort", "-c", f"{source}:/t", "-k", "a")
    process = run("h5sort", "-c", f"{source}:/t", "-k", "a", "-k", "b")
    assert process.returncode == 1
    assert process.stdout == f"{source}:/t: row 1 is out of order: a 1, b 4 after a 1, b 5\n"
    rows = np.array([(1, b"x"), (0, b"y")], [("n", "u1"), ("s", "S4")])
    compound = make(tmp_path / "c.h5", t=rows)
    assert "n 0 after n 1" in run("h5sort", "-c", compound, "-k", "n").stdout
    assert run("h5sort", "-c", compound, "-k", "s:desc").stdout.endswith("s 'y' after s 'x'\n")


def test_merge(tmp_path):
    parts = [np.sort(RNG.integers(0, 1000, n)).astype("i4") for n in (3000, 1, 0, 5000)]
    inputs = [make(tmp_path / f"{i}.h5", x=part) for i, part in enumerate(parts)]
    ok("h5sort", "-m", *inputs, "-o", tmp_path / "out.h5", "--index", "from")
    whole = np.concatenate(parts)
    same_bytes(load(tmp_path / "out.h5", "x"), np.sort(whole))
    same_bytes(load(tmp_path / "out.h5", "from"), order_of(whole))
    ok("h5sort", "-m", *inputs, "-u", "-o", tmp_path / "unique.h5")
    same_bytes(load(tmp_path / "unique.h5", "x"), np.unique(whole))


def test_merge_tables_is_stable(tmp_path):
    inputs, keys, rows = [], [], []
    for i, n in enumerate([500, 700]):
        key = np.sort(RNG.integers(0, 20, n))[::-1]
        row = np.arange(n) + 1000 * i
        inputs.append(f"{make(tmp_path / f'{i}.h5', t__key=key, t__row=row, t__s=row.astype('S5'))}:/t")
        keys.append(key)
        rows.append(row)
    ok("h5sort", *inputs, "--merge", "-k", "key:desc", "-o", tmp_path / "out.h5")
    index = order_of(np.concatenate(keys), descending=True)
    same_bytes(load(tmp_path / "out.h5", "t/row"), np.concatenate(rows)[index])


def test_merge_refuses_what_is_not_sorted_or_alike(tmp_path):
    good = make(tmp_path / "good.h5", x=np.arange(10))
    bad = make(tmp_path / "bad.h5", x=np.array([1, 3, 2]))
    other = make(tmp_path / "other.h5", x=np.arange(10, dtype="f4"))
    out = tmp_path / "out.h5"
    message = refused("h5sort", "-m", good, bad, "-o", out)
    assert "bad.h5:/x: row 2 is out of order: x 2 after x 3" in message and "good" not in message
    message = refused("h5sort", "-m", good, other, "-o", out)
    assert "other.h5:/x" in message and "f32" in message
    message = refused("h5sort", "-m", good, make(tmp_path / "t.h5", t__a=np.arange(3), t__b=np.arange(3)), "-o", out)
    assert "a, b" in message
    assert not out.exists()


def test_index(tmp_path):
    data = RNG.integers(0, 100, 5000).astype("f4")
    source, out = make(tmp_path / "in.h5", g__x=(data, {"chunks": (100,), "compression": "gzip"})), tmp_path / "out.h5"
    ok("h5sort", f"{source}:/g/x", "--index", "order", "-o", out)
    same_bytes(load(out, "g/order"), order_of(data))
    same_bytes(load(out, "g/x"), np.sort(data))
    ok("h5sort", f"{source}:/g/x", "-r", "--index", "only", "--index-only", "-o", source)
    with h5py.File(source) as file:
        assert sorted(file["g"]) == ["only", "x"]
        same_bytes(file["g/only"][()], order_of(data, descending=True))
        same_bytes(file["g/x"][()], data)
    ok("h5sort", f"{source}:/g/x", "--index", "/elsewhere/order", "--head", "5", "-o", out, "--truncate")
    same_bytes(load(out, "elsewhere/order"), order_of(data)[:5])


def test_index_of_a_table_stands_beside_it(tmp_path):
    key = RNG.integers(0, 9, 100)
    source, out = make(tmp_path / "in.h5", g__t__key=key, g__t__row=np.arange(100)), tmp_path / "out.h5"
    ok("h5sort", f"{source}:/g/t", "-k", "key", "--index", "order", "-o", out)
    same_bytes(load(out, "g/order"), order_of(key))
    assert "the output itself" in refused("h5sort", f"{source}:/g/t", "-k", "key", "--index", "t", "-o", tmp_path / "x.h5")


@pytest.mark.parametrize("n", [0, 1, 10, 99999])
def test_head(tmp_path, n):
    data = RNG.integers(0, 1000, 3000)
    source = make(tmp_path / "in.h5", x=data, t__a=data, t__b=np.arange(3000), t__c=data * 0.5)
    ok("h5sort", f"{source}:/x", "--head", n, "-o", tmp_path / "out.h5")
    same_bytes(load(tmp_path / "out.h5", "x"), np.sort(data)[:n])
    ok("h5sort", f"{source}:/t", "-k", "a:desc", "--head", n, "-o", tmp_path / "out.h5")
    same_bytes(load(tmp_path / "out.h5", "t/b"), order_of(data, descending=True)[:n])


def in_segments(data, offsets, **how):
    return np.concatenate([order_of(data[a:b], **how) + a for a, b in zip(offsets[:-1], offsets[1:])] or [[]]).astype("i8")


@pytest.mark.parametrize("kind", ["i8", "i4", "u8", ">u4"])
def test_segments(tmp_path, kind):
    data = RNG.standard_normal(5000).astype("f4")
    data[::11] = np.nan
    offsets = np.concatenate([[0, 0, 0], np.sort(RNG.integers(0, 5000, 40)), [5000, 5000]]).astype(kind)
    source, out = make(tmp_path / "in.h5", g__x=data, g__off=offsets, other__off=np.array([0, 5000])), tmp_path / "out.h5"
    ok("h5sort", f"{source}:/g/x", "--segments", "off", "-o", out, "--index", "order")
    index = in_segments(data, offsets.astype("i8"))
    same_bytes(load(out, "g/x"), data[index])
    same_bytes(load(out, "g/order"), index)
    ok("h5sort", f"{source}:/g/x", "-r", "--segments", "/other/off", "-o", out, "--truncate")
    same_bytes(load(out, "g/x"), data[order_of(data, descending=True)])
    far = make(tmp_path / "far.h5", off=offsets)
    ok("h5sort", f"{source}:/g/x", "-r", "--segments", f"{far}:/off", "-o", out, "--truncate")
    same_bytes(load(out, "g/x"), data[in_segments(data, offsets.astype("i8"), descending=True)])
    ok("h5sort", "-c", f"{out}:/g/x", "-r", "--segments", f"{far}:/off")
    assert run("h5sort", "-c", f"{out}:/g/x", "-r").returncode == 1


@pytest.mark.parametrize("offsets, part", [
    ([0, 5, 3, 10], "offset 2 is 3 after 5"), ([1, 10], "offset 0 is 1"), ([0, 9], "offset 1 (the last) is 9"),
    ([0, 11], "is 11"), ([], "no offsets"), ([0, -1, 10], "offset 1 is -1 after 0")])
def test_wrong_segments(tmp_path, offsets, part):
    source = make(tmp_path / "in.h5", x=np.arange(10), off=np.array(offsets, "i8"))
    message = refused("h5sort", f"{source}:/x", "--segments", "off", "-o", tmp_path / "out.h5")
    assert part in message and "in.h5:/off" in message
    assert not (tmp_path / "out.h5").exists()


def test_millions_of_segments(tmp_path):
    n = 1_000_000
    data = RNG.integers(0, 2**31, n).astype("u4")
    offsets = np.arange(0, n + 1, 2)
    source, out = make(tmp_path / "in.h5", x=data, off=offsets), tmp_path / "out.h5"
    ok("h5sort", f"{source}:/x", "--segments", "off", "-o", out)
    same_bytes(load(out, "x"), np.sort(data.reshape(-1, 2), axis=1).ravel())
    ok("h5sort", "-c", f"{out}:/x", "--segments", f"{source}:/off")


def test_same_file(tmp_path):
    data, other = RNG.integers(0, 99, 1000), np.arange(4)
    source = make(tmp_path / "in.h5", x=data, keep=other)
    ok("h5sort", f"{source}:/x", "-o", f"{source}:/sorted/x")
    same_bytes(load(source, "sorted/x"), np.sort(data))
    same_bytes(load(source, "x"), data)
    assert "--overwrite" in refused("h5sort", f"{source}:/x", "-o", source)
    ok("h5sort", f"{source}:/x", "-o", source, "--overwrite")
    same_bytes(load(source, "x"), np.sort(data))
    same_bytes(load(source, "keep"), other)
    ok("h5sort", f"{source}:/x", "-r", "-o", source, "--truncate")
    with h5py.File(source) as file:
        assert list(file) == ["x"]
        same_bytes(file["x"][()], np.sort(data)[::-1])


def test_table_into_its_own_file(tmp_path):
    key, row = RNG.integers(0, 9, 500), np.arange(500)
    source = make(tmp_path / "in.h5", t__key=key, t__row=row, t__x=row * 1.5)
    assert "--overwrite" in refused("h5sort", f"{source}:/t", "-k", "key", "-o", source)
    ok("h5sort", f"{source}:/t", "-k", "key", "-o", source, "--overwrite")
    same_bytes(load(source, "t/row"), order_of(key))
    assert [p.name for p in tmp_path.iterdir()] == ["in.h5"]


def test_existing_output(tmp_path):
    data = RNG.integers(0, 99, 1000)
    source = make(tmp_path / "in.h5", x=data)
    out = make(tmp_path / "out.h5", x=np.arange(3), y=np.arange(4))
    message = refused("h5sort", source, "-o", out)
    assert "out.h5:/x" in message and "--overwrite" in message
    same_bytes(load(out, "x"), np.arange(3))
    ok("h5sort", source, "-o", f"{out}:/new/place")
    same_bytes(load(out, "new/place"), np.sort(data))
    ok("h5sort", source, "-o", out, "--overwrite")
    same_bytes(load(out, "x"), np.sort(data))
    same_bytes(load(out, "y"), np.arange(4))


def test_option_spellings(tmp_path):
    data = RNG.integers(0, 99, 1000)
    source = make(tmp_path / "in.h5", x=data, t__a=data, t__b=np.arange(1000))
    expected = order_of(data, descending=True)
    spellings = [
        ["-ka:desc", f"-o{tmp_path}/0.h5", f"{source}:/t"],
        ["--key=a:desc", f"--output={tmp_path}/1.h5", f"{source}::/t"],
        [source, "-d", "/t", "-r", "-k", "a", "-o", f"{tmp_path}/2.h5"],
        ["-rka", "--dataset", "t", "-o", f"{tmp_path}/3.h5", "--", source],
        ["-S", "1G", "-@2", f"{source}:/t", "-T", tmp_path, "-k", "a:desc", "--backend", "cpu", "--progress", "off", "-o", f"{tmp_path}/4.h5"],
    ]
    for i, words in enumerate(spellings):
        ok("h5sort", *words)
        same_bytes(load(tmp_path / f"{i}.h5", "t/b"), expected)


def test_config_file(tmp_path):
    data = RNG.integers(0, 99, 1000)
    source = make(tmp_path / "in.h5", x=data)
    config = tmp_path / "sort.conf"
    config.write_text(f"# how we sort\nreverse = true\noutput = {tmp_path}/out.h5\ntruncate = true\n")
    ok("h5sort", source, "--config", config)
    same_bytes(load(tmp_path / "out.h5", "x"), np.sort(data)[::-1])
    config.write_text("revrse = true\n")
    message = refused("h5sort", source, "--config", config, "-o", tmp_path / "x.h5")
    assert "sort.conf" in message and "--reverse" in message


def test_names_with_colons_spaces_and_letters_of_the_world(tmp_path):
    data = RNG.integers(0, 99, 100)
    folder = tmp_path / "räume: 1"
    folder.mkdir()
    source = make(folder / "2013-01-01T00:00:00 a::b.h5", **{"a b__ü:x": data})
    out = folder / "out:1.h5"
    ok("h5sort", f"{source}:/a b/ü:x", "-o", f"{out}:/Größe")
    same_bytes(load(out, "Größe"), np.sort(data))
    ok("h5sort", source, "-o", out)
    same_bytes(load(out, "a b/ü:x"), np.sort(data))


def test_json_report(tmp_path):
    data = RNG.integers(0, 99, 1000).astype("i4")
    source, out, report = make(tmp_path / "in.h5", x=data), tmp_path / "out.h5", tmp_path / "r.json"
    ok("h5sort", source, "-u", "-o", out, "--json", report)
    told = json.loads(report.read_text())
    assert told["app"] == "h5sort" and re.fullmatch(r"\d+\.\d+\.\d+", told["version"])
    assert told["inputs"] == [f"{source}:/x"] and told["output"] == f"{out}:/x"
    assert told["rows_in"] == 1000 and told["rows_out"] == len(np.unique(data))
    assert told["bytes_in"] == 4000 and told["bytes_out"] == 4 * told["rows_out"]
    assert [stage["name"] for stage in told["stages"]] == ["read", "sort", "write"]
    assert all(stage["seconds"] >= 0 for stage in told["stages"])
    assert [stage["bytes"] for stage in told["stages"]] == [4000, 4000, 4 * told["rows_out"]]
    assert told["backend"] == "cpu" and told["strategy"] == "keys" and told["threads"] >= 1
    assert 0 < told["peak_memory_bytes"] < 1 << 40 and told["seconds"] > 0
    told = json.loads(ok("h5sort", f"{source}:/x", "-r", "-o", out, "--truncate", "--json", "-"))
    assert told["rows_out"] == 1000
    process = run("h5sort", "-c", source, "--json", "-")
    assert process.returncode == 1 and json.loads(process.stdout)["sorted"] is False


def test_progress_and_verbosity(tmp_path):
    source, out = make(tmp_path / "in.h5", x=RNG.integers(0, 99, 1000)), tmp_path / "out.h5"
    on = run("h5sort", source, "-o", out, "--progress", "on")
    assert on.returncode == 0 and re.search(r"h5sort: .*\[#+-*\] +\d+%", on.stderr) and on.stdout == ""
    told = run("h5sort", source, "-o", out, "--truncate", "-v")
    assert told.returncode == 0 and "strategy keys" in told.stderr and told.stdout == ""
    ok("h5sort", source, "-o", out, "--truncate", "-q", "--progress", "on")


def test_memory_cap(tmp_path):
    source, out = make(tmp_path / "in.h5", x=np.arange(4_000_000)), tmp_path / "out.h5"
    message = refused("h5sort", source, "-S", "60M", "-o", out)
    assert re.search(r"in\.h5:/x: sorting needs \d+\.\d+ MiB of memory, and --memory allows 60\.00 MiB; raise", message)
    assert not out.exists()
    ok("h5sort", source, "-S", "300M", "-o", out)
    ok("h5sort", source, "-S", "90%", "-o", out, "--truncate")


def test_version_and_help(tmp_path):
    assert re.fullmatch(r"h5sort \d+\.\d+\.\d+\n", ok("h5sort", "--version"))
    assert ok("h5sort", "--help") == (GOLDEN / "h5sort_help.txt").read_text()


def test_dry_run(tmp_path):
    key = RNG.integers(0, 9, 3000)
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    make(source, t__key=(key, {"chunks": (500,), "compression": "gzip", "shuffle": True}), t__value=key * 0.5,
         t__name=key.astype("S4"), off=np.array([0, 3000]))
    text = ok("h5sort", f"{source}:/t", "-k", "key:desc", "-k", "value:nan-first", "--segments", "off", "--index", "order",
              "-@", "2", "-n", "-o", out)
    text = text.replace(str(tmp_path), "DIR")
    text = re.sub(r"at most [\d.]+ MiB", "at most NUMBER MiB", text)
    assert text == (GOLDEN / "h5sort_dry_run.txt").read_text()
    assert not out.exists()


def test_flights_by_two_keys(tmp_path):
    """The real table: 336,776 rows with missing values."""
    source, out = SOURCE / "data/flights.h5", tmp_path / "out.h5"
    ok("h5sort", f"{source}:/flights", "-k", "dep_delay:desc", "-k", "carrier", "-o", out)
    with h5py.File(source) as before, h5py.File(out) as after:
        table = before["flights"]
        index = order_by((table["dep_delay"][()], {"descending": True}), table["carrier"][()])
        for name in table:
            same_bytes(after["flights"][name][()], table[name][()][index])


def test_the_root_group_is_no_dataset(tmp_path):
    source = make(tmp_path / "in.h5", x=np.arange(3))
    assert "/NAME" in refused("h5sort", source, "-o", f"{tmp_path}/out.h5:/")
