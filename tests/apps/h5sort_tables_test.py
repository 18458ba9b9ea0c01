"""h5sort of tables: groups of columns, compound rows, PyTables, pandas; keys of every kind."""

import h5py
import numpy as np
import pandas as pd
import pytest
import tables
from support import load, make, ok, order_by, order_of, refused, run, same_bytes, storage

RNG = np.random.default_rng(7)
N = 4000


def columns(n=N):
    energy = RNG.standard_normal(n).astype("f8")
    energy[RNG.integers(0, n, n // 10)] = np.nan
    return {
        "time": RNG.integers(0, 50, n).astype(">i4"),
        "energy": energy,
        "site": RNG.choice(np.array([b"north", b"south", b"eas"], "S6"), n),
        "wave": (RNG.standard_normal(n) + 1j * RNG.standard_normal(n)).astype("c16"),
        "position": RNG.standard_normal((n, 3)).astype("f4"),
        "image": RNG.integers(0, 255, (n, 2, 5)).astype("u1"),
        "good": RNG.integers(0, 2, n).astype(bool),
        "half": RNG.standard_normal(n).astype("f2"),
        "id": np.arange(n, dtype="u8"),
    }


@pytest.fixture(name="events", scope="module")
def events_fixture(tmp_path_factory):
    """A group with columns of many types and storages."""
    path = tmp_path_factory.mktemp("events") / "events.h5"
    data = columns()
    with h5py.File(path, "w") as file:
        group = file.create_group("events")
        group.attrs["run"] = 12
        for name, values in data.items():
            chunked = {"chunks": (500,) + values.shape[1:], "compression": "gzip", "shuffle": True}
            options = chunked if name in ("time", "position", "wave", "good") else {}
            group.create_dataset(name, data=values, **options).attrs["long_name"] = name.upper()
        text = [f"row {i} é" * (i % 3) for i in range(N)]
        group.create_dataset("text", data=text, dtype=h5py.string_dtype())
        group.create_dataset("bytes", data=[t.encode() for t in text], dtype=h5py.string_dtype(),
                             chunks=(300,), compression="gzip")
    data["text"] = np.array([t.encode() for t in text], object)
    data["bytes"] = data["text"]
    return path, data


def check_rows(path, group, data, index):
    with h5py.File(path) as file:
        for name, values in data.items():
            got = file[group][name][()]
            if values.dtype == object:
                assert got.tolist() == values[index].tolist(), name
            else:
                same_bytes(got, values[index])


@pytest.mark.parametrize("words, keys", [
    (["-k", "time"], [("time", {})]),
    (["-k", "/events/time:desc"], [("time", {"descending": True})]),
    (["-k", "time", "-k", "energy:desc"], [("time", {}), ("energy", {"descending": True})]),
    (["-k", "energy:nan-first", "-k", "site:desc"], [("energy", {"nan_first": True}), ("site", {"descending": True})]),
    (["-r", "-k", "site", "-k", "time:asc"], [("site", {"descending": True}), ("time", {})]),
    (["-k", "good:desc", "-k", "half:desc:nan-first", "-k", "time"],
     [("good", {"descending": True}), ("half", {"descending": True, "nan_first": True}), ("time", {})]),
    (["-k", "events_id"], None),
])
def test_group_of_columns(events, tmp_path, words, keys):
    path, data = events
    out = tmp_path / "out.h5"
    if keys is None:
        message = refused("h5sort", f"{path}:/events", *words, "-o", out)
        assert "events_id" in message and "energy, good, half" in message
        return
    ok("h5sort", f"{path}:/events", *words, "-o", out)
    check_rows(out, "events", data, order_by(*[(data[name], how) for name, how in keys]))
    with h5py.File(path) as before, h5py.File(out) as after:
        assert sorted(after["events"]) == sorted(before["events"])
        assert dict(after["events"].attrs) == {"run": 12}
        for name in before["events"]:
            assert storage(after["events"][name]) == storage(before["events"][name]), name


def test_columns_of_n_d_data_as_keys(events, tmp_path):
    path, data = events
    ok("h5sort", f"{path}:/events", "-k", "position[1]:desc", "-o", tmp_path / "out.h5")
    check_rows(tmp_path / "out.h5", "events", data, order_of(data["position"][:, 1], descending=True))
    assert "position[0]" in refused("h5sort", f"{path}:/events", "-k", "position", "-o", tmp_path / "x.h5")
    assert "3 values a row" in refused("h5sort", f"{path}:/events", "-k", "position[3]", "-o", tmp_path / "x.h5")


def test_complex_parts_and_text_as_keys(events, tmp_path):
    path, data = events
    ok("h5sort", f"{path}:/events", "-k", "wave.i", "-o", tmp_path / "out.h5")
    check_rows(tmp_path / "out.h5", "events", data, order_of(data["wave"].imag))
    assert "variable-length" in refused("h5sort", f"{path}:/events", "-k", "text", "-o", tmp_path / "x.h5")
    assert "wave.r" in refused("h5sort", f"{path}:/events", "-k", "wave", "-o", tmp_path / "x.h5")


def test_a_group_needs_a_key(events, tmp_path):
    path, _ = events
    message = refused("h5sort", f"{path}:/events", "-o", tmp_path / "x.h5")
    assert "-k" in message and "time" in message


def test_two_columns_move_as_pairs(tmp_path):
    for kind, payload in [("u4", "u4"), (">f8", "S8"), ("i2", "c16"), ("f2", "u1"), ("u8", "<i2")]:
        key = RNG.integers(0, 100, 30000).astype(kind)
        value = RNG.integers(0, 255, 30000 * np.dtype(payload).itemsize, dtype="u1").view(payload)
        source, out = tmp_path / "in.h5", tmp_path / "out.h5"
        source.unlink(missing_ok=True)
        make(source, t__key=key, t__value=value)
        for words, how in [([], {}), (["-r"], {"descending": True})]:
            ok("h5sort", f"{source}:/t", "-k", "key", *words, "-o", out, "--truncate")
            index = order_of(key, **how)
            same_bytes(load(out, "t/key"), key[index])
            same_bytes(load(out, "t/value"), value[index])


def compound(n=N):
    inner = np.dtype([("x", "<f4"), ("y", ">i8")])
    rows = np.zeros(n, np.dtype([("time", ">u2"), ("name", "S5"), ("inner", inner), ("vector", "f8", (2,)),
                                 ("flag", "?")]))
    rows["time"] = RNG.integers(0, 30, n)
    rows["name"] = RNG.choice(np.array([b"alpha", b"be", b"gamma"]), n)
    rows["inner"]["x"] = RNG.standard_normal(n)
    rows["inner"]["y"] = RNG.integers(-9, 9, n)
    rows["vector"] = RNG.standard_normal((n, 2))
    rows["flag"] = RNG.integers(0, 2, n)
    return rows


@pytest.mark.parametrize("options", [{}, {"chunks": (300,), "compression": "gzip", "shuffle": True, "maxshape": (None,)}])
@pytest.mark.parametrize("words, keys", [
    (["-k", "time"], lambda r: [r["time"]]),
    (["-k", "name:desc", "-k", "time"], lambda r: [(r["name"], {"descending": True}), r["time"]]),
    (["-k", "inner.y", "-k", "inner.x:desc"], lambda r: [r["inner"]["y"], (r["inner"]["x"], {"descending": True})]),
    (["-k", "flag", "-k", "time:desc"], lambda r: [r["flag"], (r["time"], {"descending": True})]),
])
def test_compound_rows(tmp_path, options, words, keys):
    rows = compound()
    source, out = make(tmp_path / "in.h5", t=(rows, options)), tmp_path / "out.h5"
    ok("h5sort", f"{source}:/t", *words, "-o", out)
    same_bytes(load(out, "t"), rows[order_by(*keys(rows))])
    with h5py.File(source) as before, h5py.File(out) as after:
        assert before["t"].id.get_type().equal(after["t"].id.get_type())
        assert storage(before["t"]) == storage(after["t"])


def test_narrow_compound_rows(tmp_path):
    rows = np.zeros(20000, np.dtype([("a", "<i4"), ("b", ">f4")]))
    rows["a"] = np.arange(20000)
    rows["b"] = RNG.integers(0, 99, 20000)
    source, out = make(tmp_path / "in.h5", t=rows), tmp_path / "out.h5"
    ok("h5sort", source, "-k", "b:desc", "-o", out)
    same_bytes(load(out, "t"), rows[order_of(rows["b"], descending=True)])


def test_compound_without_or_with_wrong_key(tmp_path):
    source = make(tmp_path / "in.h5", t=compound(10))
    assert "-k time" in refused("h5sort", source, "-o", tmp_path / "x.h5")
    assert "did you mean 'time'" in refused("h5sort", source, "-k", "tmie", "-o", tmp_path / "x.h5")
    assert "-k inner.x" in refused("h5sort", source, "-k", "inner", "-o", tmp_path / "x.h5")
    assert "give each key a -k of its own" in refused("h5sort", source, "-k", "time,name", "-o", tmp_path / "x.h5")
    assert ":desc" in refused("h5sort", source, "-k", "time:down", "-o", tmp_path / "x.h5")


def test_compound_with_text_inside(tmp_path):
    kind = np.dtype([("id", "i4"), ("text", h5py.string_dtype())])
    rows = np.empty(500, kind)
    rows["id"] = RNG.permutation(500)
    rows["text"] = [f"text {i}" for i in rows["id"]]
    source, out = make(tmp_path / "in.h5", t=rows), tmp_path / "out.h5"
    ok("h5sort", source, "-k", "id", "-o", out)
    got = load(out, "t")
    assert got["id"].tolist() == list(range(500))
    assert got["text"].tolist() == [f"text {i}".encode() for i in range(500)]


def test_rows_of_2_d_data(tmp_path):
    data = RNG.standard_normal((3000, 4)).astype(">f4")
    source, out = make(tmp_path / "in.h5", x=(data, {"chunks": (100, 4), "compression": "gzip"})), tmp_path / "out.h5"
    ok("h5sort", source, "-k", "x[2]", "-k", "x[0]", "-o", out)
    same_bytes(load(out, "x"), data[order_by(data[:, 2], data[:, 0])])
    with h5py.File(source) as before, h5py.File(out) as after:
        assert storage(before["x"]) == storage(after["x"])


def test_many_keys_are_stable(tmp_path):
    data = {f"k{i}": RNG.integers(0, 3, N).astype(kind)
            for i, kind in enumerate(["u1", "i8", ">f4", "S1", "f2", "u2"])}
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    make(source, **{f"t__{name}": values for name, values in data.items()}, t__row=np.arange(N))
    ok("h5sort", f"{source}:/t", *[word for name in data for word in ("-k", name)], "-o", out)
    same_bytes(load(out, "t/row"), order_by(*data.values()))


def test_unequal_lengths(tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    a, b = RNG.integers(0, 9, 100), np.arange(100)
    with h5py.File(source, "w") as file:
        group = file.create_group("g")
        group["a"], group["b"], group["other"] = a, b, np.arange(7)
        group["sub/x"] = np.arange(3)
        group.attrs["note"] = "kept"
    message = refused("h5sort", f"{source}:/g", "-k", "a", "-o", out)
    for part in ["a has 100", "b has 100", "other has 7", "--columns"]:
        assert part in message
    ok("h5sort", f"{source}:/g", "-k", "a", "--columns", "a,b", "-o", out)
    with h5py.File(out) as file:
        assert sorted(file["g"]) == ["a", "b"]
        same_bytes(file["g/b"][()], order_of(a))
    ok("h5sort", f"{source}:/g", "-k", "a", "--columns", "a", "--columns", "b", "--copy-rest", "-o", out, "--truncate")
    with h5py.File(out) as file:
        assert sorted(file["g"]) == ["a", "b", "other", "sub"]
        same_bytes(file["g/other"][()], np.arange(7))
        same_bytes(file["g/sub/x"][()], np.arange(3))
        assert file["g"].attrs["note"] == "kept"
    assert "nope" in refused("h5sort", f"{source}:/g", "-k", "a", "--columns", "a,nope", "-o", out, "--truncate")
    ok("h5sort", f"{source}:/g", "-k", "a", "--columns", "b", "-o", out, "--truncate")
    with h5py.File(out) as file:
        assert sorted(file["g"]) == ["b"]
        same_bytes(file["g/b"][()], order_of(a))
    assert "other" in refused("h5sort", f"{source}:/g", "-k", "other", "--columns", "b", "-o", out, "--truncate")


def test_compound_columns(tmp_path):
    rows = compound()
    source, out = make(tmp_path / "in.h5", t=rows), tmp_path / "out.h5"
    ok("h5sort", source, "-k", "time", "--columns", "name,flag", "-o", out)
    got = load(out, "t")
    assert got.dtype.names == ("name", "flag")
    index = order_of(rows["time"])
    same_bytes(got["name"], rows["name"][index])
    same_bytes(got["flag"], rows["flag"][index])


def test_empty_table(tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    make(source, g__a=(np.empty(0, "i4"), {"chunks": (10,), "maxshape": (None,)}), g__b=np.empty((0, 3), "f4"), t=compound(0))
    ok("h5sort", f"{source}:/g", "-k", "a", "-o", out)
    ok("h5sort", f"{source}:/t", "-k", "time", "-o", out)
    assert load(out, "g/b").shape == (0, 3) and load(out, "t").shape == (0,)


def test_root_as_table(tmp_path):
    a, b = RNG.integers(0, 9, 50), np.arange(50)
    source, out = make(tmp_path / "in.h5", a=a, b=b), tmp_path / "out.h5"
    for name in [f"{source}:/", str(source)]:
        ok("h5sort", name, "-k", "a", "-o", out, "--truncate")
        same_bytes(load(out, "b"), order_of(a))


def test_pytables(tmp_path):
    class Row(tables.IsDescription):
        time = tables.Float64Col(pos=0)
        name = tables.StringCol(8, pos=1)
        vector = tables.Int32Col(shape=(2,), pos=2)

    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with tables.open_file(str(source), "w", title="") as file:
        table = file.create_table("/data", "events", Row, createparents=True, filters=tables.Filters(5, "zlib", shuffle=True))
        table.attrs.unit = "s"
        values = [(float(t), b"n%d" % (t % 7), (t, -t)) for t in RNG.integers(0, 400, 1000)]
        table.append(values)
    ok("h5sort", f"{source}:/data/events", "-k", "time:desc", "-k", "name", "-o", out)
    with tables.open_file(str(out)) as file:
        table = file.root.data.events
        got = [(row["time"], row["name"], tuple(row["vector"])) for row in table.iterrows()]
        expected = sorted([(t, n, v) for t, n, v in values], key=lambda row: (-row[0], row[1]))
        assert got == expected
        assert table.attrs.unit == "s" and table.filters.complevel == 5
        assert len(table.read_where("time >= 200")) == sum(row[0] >= 200 for row in values)


def test_pytables_index_is_not_left_stale(tmp_path):
    class Row(tables.IsDescription):
        time = tables.Int32Col()

    source = tmp_path / "in.h5"
    with tables.open_file(str(source), "w") as file:
        table = file.create_table("/", "t", Row)
        table.append([(int(v),) for v in RNG.permutation(20000)])
        table.flush()
        table.cols.time.create_index(kind="full")
    process = run("h5sort", f"{source}:/t", "-k", "time", "-o", source, "--overwrite")
    assert process.returncode == 0, process
    with tables.open_file(str(source)) as file:
        assert file.root.t.read_where("(time >= 700) & (time < 710)")["time"].tolist() == list(range(700, 710))
        assert file.root.t.cols.time[:].tolist() == list(range(20000))


def test_pandas_table(tmp_path):
    frame = pd.DataFrame({"time": RNG.integers(0, 50, 600), "x": RNG.standard_normal(600),
                          "y": RNG.standard_normal(600), "site": RNG.choice(["a", "bb"], 600)})
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    frame.to_hdf(source, "frame", format="table", data_columns=True, complevel=4)
    ok("h5sort", f"{source}:/frame", "-k", "time", "-k", "site:desc", "-o", out)
    got = pd.read_hdf(out, "frame")
    expected = frame.sort_values("site", ascending=False, kind="stable").sort_values("time", kind="stable")
    pd.testing.assert_frame_equal(got, expected)


def test_pandas_block_columns(tmp_path):
    frame = pd.DataFrame(RNG.standard_normal((300, 3)), columns=["a", "b", "c"])
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    frame.to_hdf(source, "frame", format="table")
    ok("h5sort", f"{source}:/frame", "-k", "values_block_0[1]", "-o", out)
    pd.testing.assert_frame_equal(pd.read_hdf(out, "frame"), frame.sort_values("b", kind="stable"))
