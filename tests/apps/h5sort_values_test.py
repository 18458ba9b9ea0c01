"""h5sort of one dataset: every type, byte order, storage and filter, against numpy's stable order."""

import json
import os
import pathlib

import h5py
import numpy as np
import pytest
from support import SANITIZED, load, make, ok, order_of, refused, run, same_bytes, storage

RNG = np.random.default_rng(20130101)
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
needs_plain_memory = pytest.mark.skipif(SANITIZED, reason="a sanitizer's own memory hides ours")


def integers(kind, n):
    info = np.iinfo(kind)
    data = RNG.integers(info.min, info.max, n, dtype=np.dtype(kind), endpoint=True)
    data[: min(n, 4)] = [info.max, info.min, info.max, 0][: min(n, 4)]
    return data


def floats(kind, n):
    """Zeros of both signs, infinities, subnormals and NaNs of several payloads among numbers."""
    bits = np.dtype("u" + kind[1:])
    data = (RNG.standard_normal(n) * 100).astype(kind)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, np.finfo(kind).tiny / 2,
                        np.finfo(kind).max, -np.finfo(kind).max], kind)
    data[RNG.integers(0, n, n // 2)] = RNG.choice(special, n // 2)
    nan = np.flatnonzero(np.isnan(data))
    data.view(bits)[nan] ^= RNG.integers(0, 4, len(nan)).astype(bits)  # different NaNs are one class
    data.view(bits)[nan] |= bits.type(2)
    return data


def values(kind, n=5000):
    return floats(kind, n) if kind[0] == "f" else integers(kind, n)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", INTEGERS + FLOATS)
def test_every_type_and_byte_order(tmp_path, kind, order):
    data = values(kind).astype(order + kind)
    data = data.view(data.dtype)
    source, out = make(tmp_path / "in.h5", x=data), tmp_path / "out.h5"
    for words, how in [([], {}), (["-r"], {"descending": True}),
                       (["-k", "x:nan-first"], {"nan_first": True}),
                       (["-k", "x:desc:nan-first"], {"descending": True, "nan_first": True})]:
        ok("h5sort", f"{source}:/x", *words, "-o", out, "--truncate")
        same_bytes(load(out, "x"), data[order_of(data, **how)])


@pytest.mark.parametrize("n", [0, 1, 2, 3, 63, 64, 65, 1000, 70000])
@pytest.mark.parametrize("kind", ["u1", "i8", "f4"])
def test_sizes(tmp_path, kind, n):
    data = values(kind, max(n, 2))[:n]
    source, out = make(tmp_path / "in.h5", x=data), tmp_path / "out.h5"
    ok("h5sort", source, "-o", out)
    same_bytes(load(out, "x"), data[order_of(data)])


STORAGE = {
    "contiguous": {},
    "chunked": {"chunks": (700,)},
    "chunk_larger_than_data": {"chunks": (9000,), "maxshape": (None,)},
    "gzip": {"chunks": (512,), "compression": "gzip", "compression_opts": 4},
    "gzip_shuffle": {"chunks": (512,), "compression": "gzip", "compression_opts": 9, "shuffle": True},
    "shuffle": {"chunks": (333,), "shuffle": True},
    "fletcher32": {"chunks": (512,), "fletcher32": True},
    "everything": {"chunks": (512,), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "szip": {"chunks": (512,), "compression": "szip"},
    "unlimited": {"chunks": (512,), "maxshape": (None,), "compression": "gzip"},
    "bounded": {"chunks": (512,), "maxshape": (100000,)},
    "fill": {"chunks": (512,), "fillvalue": 7},
}


@pytest.mark.parametrize("kind", ["<i4", ">f8", "u1"])
@pytest.mark.parametrize("name", STORAGE)
def test_storage_is_kept(tmp_path, name, kind):
    data = values(kind.strip("<>"), 3001).astype(kind)
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w") as file:
        dataset = file.create_dataset("g/x", data=data, **STORAGE[name])
        dataset.attrs["units"] = "m/s"
        dataset.attrs["range"] = np.array([1.5, 2.5])
        dataset.attrs["empty"] = h5py.Empty("S1")
        dataset.attrs["names"] = ["a", "ü"]
        before = storage(dataset)
    ok("h5sort", f"{source}:/g/x", "-o", out)
    with h5py.File(out) as file:
        same_bytes(file["g/x"][()], data[order_of(data)])
        assert storage(file["g/x"]) == before


def test_scale_offset(tmp_path):
    data = RNG.integers(-1000, 1000, 4000).astype("i4")
    source, out = make(tmp_path / "in.h5", x=(data, {"chunks": (512,), "scaleoffset": 0})), tmp_path / "out.h5"
    ok("h5sort", source, "-o", out)
    same_bytes(load(out, "x"), np.sort(data))
    with h5py.File(out) as file:
        assert file["x"].scaleoffset is not None

PLUGINS = next((path.parent for path in pathlib.Path("/usr/lib").glob("*/hdf5/serial/plugins/*lzf*")), None)


@pytest.mark.parametrize("plugin", ["present", "absent"])
def test_lzf(tmp_path, plugin):
    if plugin == "present" and PLUGINS is None:
        pytest.skip("hdf5-plugin-lzf is not installed")
    data = values("i4")
    source, out = make(tmp_path / "in.h5", x=(data, {"compression": "lzf", "shuffle": True})), tmp_path / "out.h5"
    folder = PLUGINS if plugin == "present" else tmp_path
    ok("h5sort", source, "-o", out, env={**os.environ, "HDF5_PLUGIN_PATH": str(folder)})
    with h5py.File(out) as file:
        assert file["x"].compression == "lzf" and file["x"].shuffle
        same_bytes(file["x"][()], np.sort(data))


def test_a_missing_plugin_is_named(tmp_path):
    source = tmp_path / "in.h5"
    with h5py.File(source, "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((100,))
        plist.set_filter(32004, h5py.h5z.FLAG_OPTIONAL)
        h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((1000,)), plist)
    message = refused("h5sort", source, "-o", tmp_path / "out.h5",
                      env={**os.environ, "HDF5_PLUGIN_PATH": str(tmp_path)})
    for part in ["in.h5:/x", "32004", "lz4", "hdf5-filter-plugin"]:
        assert part in message
    assert not (tmp_path / "out.h5").exists()


def test_other_filters_by_option(tmp_path):
    data = values("u4", 20000)
    source, out = make(tmp_path / "in.h5", x=data), tmp_path / "out.h5"
    ok("h5sort", source, "-f", "SHUF", "-f", "GZIP=4", "--chunk", "1000", "-o", out)
    with h5py.File(out) as file:
        assert (file["x"].compression, file["x"].compression_opts, file["x"].shuffle) == ("gzip", 4, True)
        assert file["x"].chunks == (1000,)
        same_bytes(file["x"][()], np.sort(data))
    ok("h5sort", out, "-f", "NONE", "-o", tmp_path / "plain.h5")
    with h5py.File(tmp_path / "plain.h5") as file:
        assert file["x"].compression is None and not file["x"].shuffle


def test_never_written_contiguous_is_fill_values(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("x", (1000,), "i4", fillvalue=3)
    ok("h5sort", tmp_path / "in.h5", "-o", tmp_path / "out.h5")
    same_bytes(load(tmp_path / "out.h5", "x"), np.full(1000, 3, "i4"))


@pytest.mark.parametrize("options", [{}, {"chunks": (10,), "maxshape": (None,)},
                                     {"chunks": (10,), "maxshape": (None,), "compression": "gzip"}])
def test_empty(tmp_path, options):
    source, out = make(tmp_path / "in.h5", x=(np.empty(0, "f4"), options)), tmp_path / "out.h5"
    ok("h5sort", source, "-o", out)
    with h5py.File(out) as file:
        assert file["x"].shape == (0,) and file["x"].dtype == "f4"
        assert file["x"].maxshape == ((None,) if options else (0,))


def test_scalar_and_null(tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w") as file:
        file["scalar"] = np.float32(2.5)
        file["null"] = h5py.Empty("i8")
    ok("h5sort", f"{source}:/scalar", "-o", out)
    ok("h5sort", f"{source}:/null", "-o", out)
    with h5py.File(out) as file:
        assert file["scalar"].shape == () and file["scalar"][()] == 2.5
        assert file["null"].shape is None and file["null"].dtype == "i8"


def test_compact_and_user_block(tmp_path):
    data = values("i2", 500)
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w", userblock_size=512) as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((500,))
        h5py.h5d.create(file.id, b"compact", h5py.h5t.NATIVE_INT16, space, plist).write(
            h5py.h5s.ALL, h5py.h5s.ALL, data)
        file["plain"] = data
    for name in ["compact", "plain"]:
        ok("h5sort", f"{source}:/{name}", "-o", out)
        same_bytes(load(out, name), np.sort(data))


def test_bool_and_enums(tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    flags = RNG.integers(0, 2, 999).astype(bool)
    colour = h5py.enum_dtype({"RED": 3, "GREEN": 1, "BLUE": -2}, basetype=">i2")
    colours = RNG.choice(np.array([3, 1, -2], ">i2"), 999)
    with h5py.File(source, "w") as file:
        file["flags"] = flags
        file.create_dataset("colours", data=colours, dtype=colour)
    for name, data in [("flags", flags), ("colours", colours)]:
        ok("h5sort", f"{source}:/{name}", "-o", out)
        same_bytes(load(out, name), data[order_of(data)])
        with h5py.File(source) as before, h5py.File(out) as after:
            assert before[name].id.get_type().equal(after[name].id.get_type())


def test_odd_precision(tmp_path):
    """Integers of 12 bits in 2 bytes: compared as numbers, kept in their type."""
    data = RNG.integers(-2048, 2048, 3000).astype("i2")
    kind = h5py.h5t.NATIVE_INT16.copy()
    kind.set_precision(12)
    with h5py.File(tmp_path / "in.h5", "w") as file:
        space = h5py.h5s.create_simple((3000,))
        h5py.h5d.create(file.id, b"x", kind, space).write(h5py.h5s.ALL, h5py.h5s.ALL, data)
    ok("h5sort", tmp_path / "in.h5", "-o", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["x"].id.get_type().get_precision() == 12
        assert file["x"][()].tolist() == sorted(data.tolist())


@pytest.mark.parametrize("width", [1, 3, 8, 17, 100])
def test_fixed_strings_by_bytes(tmp_path, width):
    letters = RNG.integers(0, 256, (2000, width)).astype("u1")
    letters[RNG.integers(0, 2000, 500)] = letters[0]
    data = letters.view(f"S{width}").ravel()
    source, out = make(tmp_path / "in.h5", x=data), tmp_path / "out.h5"
    for words, reverse in [([], False), (["-r"], True)]:
        ok("h5sort", source, *words, "-o", out, "--truncate")
        padded = [bytes(row) for row in letters]
        assert load(out, "x").tobytes() == b"".join(sorted(padded, reverse=reverse))


def test_space_padded_and_utf8_strings_keep_their_type(tmp_path):
    words = ["bé", "aa", "zz", "ab"]
    for charset, pad in [(h5py.h5t.CSET_UTF8, h5py.h5t.STR_NULLTERM), (h5py.h5t.CSET_ASCII, h5py.h5t.STR_SPACEPAD)]:
        kind = h5py.h5t.C_S1.copy()
        kind.set_size(6)
        kind.set_cset(charset)
        kind.set_strpad(pad)
        source, out = tmp_path / f"in{pad}.h5", tmp_path / f"out{pad}.h5"
        filler = b" " if pad == h5py.h5t.STR_SPACEPAD else b"\0"
        data = np.frombuffer(b"".join(w.encode().ljust(6, filler) for w in words), "S6")
        with h5py.File(source, "w") as file:
            h5py.h5d.create(file.id, b"x", kind, h5py.h5s.create_simple((4,))).write(
                h5py.h5s.ALL, h5py.h5s.ALL, data, mtype=kind)
        ok("h5sort", source, "-o", out)
        with h5py.File(source) as before, h5py.File(out) as after:
            assert before["x"].id.get_type().equal(after["x"].id.get_type())
            assert [bytes(w).strip(b" \0").decode() for w in after["x"][()]] == ["aa", "ab", "bé", "zz"]


def test_types_without_order_are_refused(tmp_path):
    source = tmp_path / "in.h5"
    with h5py.File(source, "w") as file:
        file["text"] = ["b", "a"]
        file["complex"] = np.array([1 + 2j, 0])
        file["plane"] = np.zeros((5, 3))
        file.create_dataset("opaque", data=np.array([b"ab", b"cd"]).astype("V2"))
        file.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))
        file.create_dataset("pointers", (2,), h5py.ref_dtype)
    for name, part in [("text", "variable-length"), ("complex", "-k r"), ("plane", "plane[0]"),
                       ("opaque", "no order"), ("ragged", "no order"), ("pointers", "no order")]:
        message = refused("h5sort", f"{source}:/{name}", "-o", tmp_path / "out.h5")
        assert part in message and f"in.h5:/{name}" in message
    assert not (tmp_path / "out.h5").exists()


def test_threads_give_the_same_bytes(tmp_path):
    data = values("f8", 300000)
    source = make(tmp_path / "in.h5", x=(data, {"chunks": (4096,), "compression": "gzip", "shuffle": True}))
    for threads in [1, 2, 3, 8]:
        ok("h5sort", source, "-@", threads, "-o", tmp_path / f"{threads}.h5")
        same_bytes(load(tmp_path / f"{threads}.h5", "x"), data[order_of(data)])


@pytest.mark.parametrize("shape", ["sorted", "reversed", "equal", "two"])
def test_shapes_of_data(tmp_path, shape):
    n = 100000
    data = {"sorted": np.arange(n), "reversed": np.arange(n)[::-1], "equal": np.full(n, 42),
            "two": RNG.integers(0, 2, n)}[shape].astype("u8")
    source, out = make(tmp_path / "in.h5", x=data), tmp_path / "out.h5"
    ok("h5sort", source, "-o", out)
    same_bytes(load(out, "x"), np.sort(data))


STREAMED = {"plain": {}, "gzip": {"chunks": (5000,), "compression": "gzip", "compression_opts": 4, "shuffle": True},
            "chunks": {"chunks": (777,)}, "large": {"chunks": (100000,), "compression": "gzip"}}


@pytest.mark.parametrize("kind", ["<u8", ">i4", "<f4", ">f8"])
@pytest.mark.parametrize("storage_of", STREAMED)
def test_values_on_their_way_between_files(tmp_path, storage_of, kind):
    """So many that they are partitioned while they are read and written bucket by bucket."""
    data = values(kind[1:], 300001).astype(kind)
    source, out = make(tmp_path / "in.h5", x=(data, STREAMED[storage_of])), tmp_path / "out.h5"
    for words, how in [([], {}), (["-r"], {"descending": True}), (["--head", 100000], {}), (["-@", 1], {})]:
        ok("h5sort", f"{source}:/x", *words, "-o", out, "--truncate", "--json", tmp_path / "r.json")
        expected = data[order_of(data, **how)][: 100000 if "--head" in words else None]
        same_bytes(load(out, "x"), expected)
        told = json.loads((tmp_path / "r.json").read_text())
        assert told["bytes_in"] == data.nbytes and told["bytes_out"] == expected.nbytes
        assert told["rows_out"] == len(expected)
        with h5py.File(source) as a, h5py.File(out) as b:
            kept, got = storage(a["x"]), storage(b["x"])
            assert got.pop("maxshape") == expected.shape and kept.pop("maxshape") == data.shape
            assert got == kept


def test_values_replace_themselves(tmp_path):
    data = values("f8", 200000)
    source = make(tmp_path / "in.h5", x=(data, STREAMED["gzip"]), y=np.arange(5))
    ok("h5sort", f"{source}:/x", "-o", source, "--overwrite")
    same_bytes(load(source, "x"), data[order_of(data)])
    same_bytes(load(source, "y"), np.arange(5))


def test_unsigned_above_the_signed_range(tmp_path):
    data = np.array([2**63, 1, 2**64 - 1, 2**63 - 1, 0, 2**63 + 1], "u8")
    source, out = make(tmp_path / "in.h5", x=data), tmp_path / "out.h5"
    ok("h5sort", source, "-o", out)
    same_bytes(load(out, "x"), np.sort(data))


@needs_plain_memory
@pytest.mark.parametrize("kinds", ["u8", "u8 u8", "u2 u8", "u8 u2", "u4 u2", "u2 u4", "u4 u4"])
def test_peak_memory(tmp_path, kinds):
    """At most 2.2 times the columns, beside what the process itself takes."""
    sizes = {"small": 10, "large": 12_000_000}
    peaks = {}
    for name, n in sizes.items():
        source = make(tmp_path / f"{name}.h5", **{f"t__{column}": RNG.integers(0, 2**16, n).astype(kind)
                                                  for column, kind in zip("kv", kinds.split())})
        run("h5sort", f"{source}:/t", "-k", "k", "-o", tmp_path / "out.h5", "--truncate", "--json", tmp_path / "r.json")
        peaks[name] = json.loads((tmp_path / "r.json").read_text())["peak_memory_bytes"]
    row_bytes = sum(np.dtype(kind).itemsize for kind in kinds.split())
    assert peaks["large"] - peaks["small"] <= 2.2 * row_bytes * sizes["large"]


@needs_plain_memory
def test_memory_stays_below_what_the_plan_says(tmp_path):
    import re

    n = 1_000_000
    key = RNG.integers(0, 2**40, n)
    rows = np.zeros(n, [("k", "i4"), ("a", "f8"), ("b", "S20")])
    rows["k"] = RNG.integers(0, 2**31, n)
    source = make(tmp_path / "in.h5", x=key, two__k=key, two__v=key, t__k=key, t__a=key * 0.5, t__b=np.ones((n, 3)),
                  rows=rows, text=rows["b"])
    for words in [["x"], ["x", "-u"], ["x", "--index", "i"], ["two", "-k", "k"], ["t", "-k", "k", "-k", "a"],
                  ["t", "-k", "a", "-u"], ["rows", "-k", "k"], ["text"]]:
        words = [f"{source}:/{words[0]}", *words[1:], "-o", tmp_path / "out.h5", "--truncate"]
        need, unit = re.search(r"memory  at most ([\d.]+) (\w+)", ok("h5sort", *words, "-n")).groups()
        ok("h5sort", *words, "--json", tmp_path / "r.json")
        peak = json.loads((tmp_path / "r.json").read_text())["peak_memory_bytes"]
        assert peak <= float(need) * {"MiB": 1 << 20, "GiB": 1 << 30}[unit], words


def test_missing_chunks_are_fill_values(tmp_path):
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(source, "w") as file:
        dataset = file.create_dataset("x", (1000,), "i4", chunks=(100,), fillvalue=-5, compression="gzip")
        dataset[250:350] = np.arange(100)
    ok("h5sort", source, "-o", out)
    same_bytes(load(out, "x"), np.sort(load(source, "x")))
