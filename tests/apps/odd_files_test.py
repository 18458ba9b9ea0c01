"""Files as strangers have them: what HDF5 allows and few programs expect. numpy and h5py judge.

Each kind stands in public reports: chunks at the edge without filters, attributes of more than 64 KiB, orders of
creation, cycles of links, references into copies, links into other files, sizes that are claimed and not stored,
virtual datasets of virtual ones, types that look alike.
"""

import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

from support import SANITIZED, SECONDS, load, make, ok, program, refused, run

RNG = np.random.default_rng(20261201)
DONT_FILTER_PARTIAL_CHUNKS = 2


def hdf5_library():
    """The library that h5py has loaded, for what h5py does not offer."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            name = line.split()[-1]
            if "libhdf5" in name and "_hl" not in name:
                return ctypes.CDLL(name)
    pytest.skip("h5py holds its HDF5 library inside itself")


@pytest.mark.parametrize("shape,chunk", [((100,), (64,)), ((100, 4), (64, 3)), ((128, 4), (64, 4))])
@pytest.mark.parametrize("kind", ["<i8", ">i8"])
def test_edge_chunks_without_filters(tmp_path, shape, chunk, kind):
    library = hdf5_library()
    values = RNG.integers(0, 1000, shape).astype(kind)
    with h5py.File(tmp_path / "in.h5", "w", libver="latest") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk(chunk)
        properties.set_shuffle()
        properties.set_deflate(4)
        assert library.H5Pset_chunk_opts(ctypes.c_int64(properties.id), ctypes.c_uint(DONT_FILTER_PARTIAL_CHUNKS)) >= 0
        dataset = h5py.h5d.create(file.id, b"x", h5py.h5t.py_create(values.dtype), h5py.h5s.create_simple(shape),
                                  properties)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
    ok("h5scan", tmp_path / "in.h5", "-o", tmp_path / "out.h5")
    assert (load(tmp_path / "out.h5", "x") == np.cumsum(values, 0)).all()


@pytest.mark.parametrize(("path", "key"), [("x", None), ("g", "k"), ("/", "x")])
def test_attributes_over_64_kib(tmp_path, path, key):
    big = np.arange(20000.0)
    with h5py.File(tmp_path / "in.h5", "w", libver="latest") as file:
        file["x"] = RNG.random(10)
        file["g/k"], file["g/v"] = RNG.random(10), np.arange(10)
        file[path].attrs["big"] = big
        file[path].attrs["small"] = 1
    ok("h5sort", f"{tmp_path / 'in.h5'}:/{path.strip('/')}", *(["-k", key] if key else []), "-o", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file[path].attrs["big"] == big).all() and file[path].attrs["small"] == 1


def test_orders_of_creation(tmp_path):
    names = ["zebra", "apple", "mango"]
    with h5py.File(tmp_path / "in.h5", "w") as file:
        group = file.create_group("g", track_order=True)
        for name in names:
            group.create_dataset(name, data=RNG.random(5), track_order=True)
            for attribute in names:
                group[name].attrs[attribute] = 1
    ok("h5sort", f"{tmp_path / 'in.h5'}:/g", "-k", "apple", "-o", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert list(file["g"]) == names
        assert list(file["g/zebra"].attrs) == names


def test_cycles_of_groups(tmp_path):
    source = make(tmp_path / "in.h5", g__x=np.array([3, 1, 2]))
    with h5py.File(source, "a") as file:  # two ways back at each level: 2^depth paths
        file["g/up"] = file["g/again"] = file["/"]
        file["alias"] = file["g"]
    ok("h5sort", source, "-o", tmp_path / "out.h5", timeout=20)
    assert load(tmp_path / "out.h5", "alias/x").tolist() == [1, 2, 3]


def attach(scale, dataset, name):
    if not h5py.h5ds.is_scale(scale.id):
        scale.make_scale(name)
    dataset.dims[0].attach_scale(scale)


@pytest.fixture(name="scales")
def fixture_scales(tmp_path):
    """/g: t is a scale of v and of w, w has a longer scale s too; r refers to t."""
    with h5py.File(tmp_path / "in.h5", "w") as file:
        group = file.create_group("g")
        group["t"], group["v"] = np.array([3.0, 1, 2]), np.array([30.0, 10, 20])
        group["s"], group["w"] = np.arange(5.0), np.zeros((5, 3))
        group["r"] = np.array([group["t"].ref, group["s"].ref], dtype=h5py.ref_dtype)
        attach(group["t"], group["v"], "t")
        attach(group["s"], group["w"], "s")
        group["w"].dims[1].attach_scale(group["t"])
    return tmp_path / "in.h5"


@pytest.mark.parametrize("target", ["/g", "/elsewhere/h"])
@pytest.mark.parametrize("same_file", [False, True])
def test_references_follow_their_objects(scales, tmp_path, target, same_file):
    out = scales if same_file else tmp_path / "out.h5"
    ok("h5sort", f"{scales}:/g", "-k", "t", "--columns", "t,v", "--copy-rest", "-o", f"{out}:{target}",
       *(["--overwrite"] if same_file and target == "/g" else []))
    with h5py.File(out) as file:
        group = file[target]
        assert group["t"][:].tolist() == [1, 2, 3] and group["v"][:].tolist() == [10, 20, 30]
        assert group["v"].dims[0][0].name == f"{target}/t"
        assert [group["w"].dims[k][0].name for k in (0, 1)] == [f"{target}/s", f"{target}/t"]
        assert [file[reference].name for reference in group["r"]] == [f"{target}/t", f"{target}/s"]


def test_references_that_cannot_follow_are_told(scales, tmp_path):
    with h5py.File(scales, "a") as file:
        file["far"] = np.arange(3)
        file["g/lost"] = np.array([file["far"].ref], dtype=h5py.ref_dtype)
    process = run("h5sort", f"{scales}:/g", "-k", "t", "--columns", "t,v", "--copy-rest", "-o", tmp_path / "out.h5")
    assert process.returncode == 0
    assert len(process.stderr.splitlines()) == 1 and "out.h5:/g/lost" in process.stderr
    with h5py.File(tmp_path / "out.h5") as file:
        assert not file["g/lost"][0]


@pytest.mark.parametrize("path", ["/ext/x", "/soft/x", "/ext/new/x"])
def test_links_into_another_file_are_not_written_through(tmp_path, path):
    source = make(tmp_path / "in.h5", x=np.array([3, 1, 2]))
    other = make(tmp_path / "other.h5", x=np.arange(3))
    out = make(tmp_path / "out.h5", y=np.arange(2))
    with h5py.File(out, "a") as file:
        file["ext"] = h5py.ExternalLink("other.h5", "/")
        file["soft"] = h5py.SoftLink("/ext")
    before = out.read_bytes(), other.read_bytes()
    assert "link into another file" in refused("h5sort", source, "-o", f"{out}:{path}", "--overwrite")
    assert (out.read_bytes(), other.read_bytes()) == before


@pytest.mark.parametrize("shape,kind", [((2**61,), "i8"), ((2**62,), "i4"), ((2**63 - 1,), "i1"), ((2**33, 2**33), "i8"),
                                        ((3, 2**62), "i8"), ((0, 2**62), "i8"), ((2**40,), "i8")])
def test_sizes_that_are_claimed_and_not_stored(tmp_path, shape, kind):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("x", shape, kind, chunks=(1,) * (len(shape) - 1) + (1024,), maxshape=(None,) * len(shape))
    for words in (["h5sort", "--index", "i", "--index-only"], ["h5sort", "-k", "x[0]"] if len(shape) > 1 else ["h5sort", "-u"],
                  ["h5scan"], ["h5scan", "--reduce"]):
        message = refused(words[0], tmp_path / "in.h5", *words[1:], "-o", tmp_path / "out.h5", timeout=20)
        assert "claims" in message or "of memory" in message
    assert [path.name for path in tmp_path.iterdir()] == ["in.h5"]


def test_virtual_datasets_of_virtual_datasets(tmp_path):
    source = make(tmp_path / "s.h5", x=np.array([3.0, 1, 2]))
    for name, of in (("v1", "s"), ("v2", "v1")):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            layout = h5py.VirtualLayout((3,), "f8")
            layout[:] = h5py.VirtualSource(f"{of}.h5", "x", (3,))
            file.create_virtual_dataset("x", layout, fillvalue=-9)
    ok("h5sort", tmp_path / "v2.h5", "-o", tmp_path / "out.h5")
    assert load(tmp_path / "out.h5", "x").tolist() == [1, 2, 3]
    source.unlink()
    assert "s.h5" in refused("h5sort", tmp_path / "v2.h5", "-o", tmp_path / "none.h5")


def test_a_virtual_dataset_of_itself(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        layout = h5py.VirtualLayout((3,), "f8")
        layout[:] = h5py.VirtualSource(".", "x", (3,))
        file.create_virtual_dataset("x", layout)
    assert "made of itself" in refused("h5sort", tmp_path / "in.h5", "-o", tmp_path / "out.h5", timeout=20)


def rows(offset):
    table = np.zeros(3, {"names": ["a", "b"], "formats": ["<i4", "<i4"], "offsets": [0, offset], "itemsize": 12})
    table["a"], table["b"] = [1, 3, 5], [10, 30, 50]
    return table


def colours(**values):
    return np.array([0, 1], "i2"), {"dtype": h5py.enum_dtype(values, basetype="i2")}


@pytest.mark.parametrize("first,second,key", [(rows(4), rows(8), ["-k", "a"]),
                                              (colours(red=0, blue=1), colours(blue=0, red=1), [])])
def test_merging_types_that_look_alike(tmp_path, first, second, key):
    make(tmp_path / "a.h5", x=first)
    make(tmp_path / "b.h5", x=second)
    message = refused("h5sort", "-m", tmp_path / "a.h5", tmp_path / "b.h5", *key, "-o", tmp_path / "out.h5")
    assert "b.h5:/x" in message and "differ inside" in message


def test_overwriting_a_group_replaces_its_columns_alone(tmp_path):
    source = make(tmp_path / "in.h5", g__a=np.array([3, 1, 2]), g__b=np.array([1, 2, 3]), g__c=np.arange(5),
                  g__sub__d=np.arange(2))
    ok("h5sort", f"{source}:/g", "-k", "a", "--columns", "a,b", "-o", source, "--overwrite")
    with h5py.File(source) as file:
        assert sorted(file["g"]) == ["a", "b", "c", "sub"]
        assert file["g/b"][:].tolist() == [2, 3, 1] and file["g/c"][:].tolist() == [0, 1, 2, 3, 4]


def test_an_empty_name_is_no_key_of_several_columns(tmp_path):
    source = make(tmp_path / "in.h5", g__a=np.array([3, 1, 2]), g__b=np.array([1, 2, 3]))
    assert "name those to sort by" in refused("h5sort", f"{source}:/g", "-k", ":desc", "-o", tmp_path / "out.h5")
    single = make(tmp_path / "one.h5", x=np.array([3, 1, 2]))
    ok("h5sort", single, "-k", ":desc", "-o", tmp_path / "out.h5")
    assert load(tmp_path / "out.h5", "x").tolist() == [3, 2, 1]


@pytest.mark.parametrize("length", [231, 232, 233, 255])
def test_names_as_long_as_can_be(tmp_path, length):
    source = make(tmp_path / "in.h5", x=np.array([3, 1, 2]))
    out, report = tmp_path / ("o" * length), tmp_path / ("r" * length)
    ok("h5sort", source, "-o", out, "--json", report)
    ok("h5sort", source, "-o", f"{out}:/y", "--json", report)
    assert load(out, "y").tolist() == [1, 2, 3]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5", out.name, report.name]


def test_places_for_reports_are_tried_first(tmp_path):
    source = make(tmp_path / "in.h5", x=np.array([3, 1, 2]))
    out = make(tmp_path / "out.h5", y=np.arange(3))
    fresh = tmp_path / "fresh.h5"
    before = source.read_bytes(), out.read_bytes()
    for report, part in ((tmp_path / "none/r.json", "No such file"), (tmp_path, "folder"), (source, "replace the HDF5 file"),
                         (out, "replace the HDF5 file")):
        assert part in refused("h5sort", source, "-o", out, "--json", report)
        assert (source.read_bytes(), out.read_bytes()) == before
    assert "both" in refused("h5sort", source, "-o", fresh, "--json", pathlib.Path(tmp_path / "." / "fresh.h5"))
    assert not fresh.exists()


def test_outputs_that_are_nothing_yet(tmp_path):
    source = make(tmp_path / "in.h5", x=np.array([3, 1, 2]))
    (tmp_path / "empty.h5").touch(0o640)
    ok("h5sort", source, "-o", tmp_path / "empty.h5")
    assert load(tmp_path / "empty.h5", "x").tolist() == [1, 2, 3]
    (tmp_path / "there").mkdir()
    (tmp_path / "link.h5").symlink_to("there/new.h5")
    ok("h5sort", source, "-o", tmp_path / "link.h5")
    assert (tmp_path / "link.h5").is_symlink() and load(tmp_path / "there/new.h5", "x").tolist() == [1, 2, 3]
    (tmp_path / "loop.h5").symlink_to("loop.h5")
    assert "loop.h5" in refused("h5sort", source, "-o", tmp_path / "loop.h5")
    (tmp_path / "text").write_text("no HDF5")
    assert "choose another output" in refused("h5sort", source, "-o", tmp_path / "text")
    assert "--config" in refused("h5sort", source, "-o", tmp_path / "o.h5", "--config", tmp_path)


@pytest.mark.skipif(SANITIZED, reason="HDF5 leaves its memory, and where a sanitizer has room for it walks on for gigabytes")
@pytest.mark.parametrize("offset,value", [(8, 0xff), (12, 0x7f), (15, 0x7f), (0, 0x7f)])
def test_damaged_heaps_of_variable_length_text(tmp_path, offset, value):
    source = tmp_path / "in.h5"
    with h5py.File(source, "w") as file:
        file.create_dataset("x", data=["text" * row for row in range(99)], dtype=h5py.string_dtype())
    damaged = bytearray(source.read_bytes())
    damaged[damaged.index(b"GCOL") + 16 + offset] = value  # of the heap's first object
    source.write_bytes(damaged)
    process = run("h5select", source, "--where", "x != 'text'", "-o", tmp_path / "out.h5")
    assert process.returncode in (0, 2) and len(process.stderr.splitlines()) == (process.returncode == 2), process
    assert {path.name for path in tmp_path.iterdir()} <= {"in.h5", "out.h5"}


@pytest.mark.skipif(SANITIZED, reason="sanitizers tell of crashes themselves")
def test_a_crash_is_told_in_one_line(tmp_path):
    source, out, report = make(tmp_path / "in.h5", x=np.array([3, 1, 2])), tmp_path / "out.h5", tmp_path / "report"
    os.mkfifo(report)  # nobody reads it: the app waits there
    with subprocess.Popen([program("h5sort"), str(source), "-o", str(out), "--json", str(report)],
                          stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not out.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGSEGV)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 2 and said.startswith("h5sort: error: it crashed") and said.count("\n") == 1, said
    assert load(out, "x").tolist() == [1, 2, 3]


@pytest.fixture(name="nested")
def fixture_nested(tmp_path):
    """x is a dataset of sequences in sequences, k its key; how deep they nest is more than a small stack holds."""
    kind = h5py.h5t.STD_I8LE.copy()
    for _ in range(3000):
        kind = h5py.h5t.vlen_create(kind)
    with h5py.File(tmp_path / "in.h5", "w", libver="latest") as file:
        h5py.h5d.create(file.id, b"x", kind, h5py.h5s.create_simple((3,)))
        file["k"] = np.array([3, 1, 2])
    return tmp_path / "in.h5"


@pytest.mark.skipif(SANITIZED, reason="sanitizers tell of crashes themselves, and need more of the stack")
def test_a_stack_that_overflows_is_told_in_one_line(nested, tmp_path):
    out = make(tmp_path / "out.h5", y=np.arange(3))
    before = out.read_bytes()
    small = 256 << 10
    process = run("h5sort", nested, "-k", "k", "-o", out, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (small, small)))
    assert process.returncode == 2, process
    assert process.stderr.startswith("h5sort: error: it crashed") and process.stderr.count("\n") == 1, process
    assert out.read_bytes() == before and sorted(path.name for path in tmp_path.iterdir()) == ["in.h5", "out.h5"]


def test_groups_in_groups_without_end(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        group = file
        for _ in range(500):
            group = group.create_group("g")
        group["x"] = np.array([3, 1, 2])
    ok("h5sort", tmp_path / "in.h5", "-o", f"{tmp_path / 'out.h5'}:/x", timeout=60)
    assert load(tmp_path / "out.h5", "x").tolist() == [1, 2, 3]


@pytest.mark.parametrize("shared", ["space", "type", "fill value", "filters", "attributes", "all"])
def test_messages_that_a_file_shares_between_headers(tmp_path, shared):
    """Outputs are files of their own: no message may point to where the input shares it."""
    messages = {"space": 1 << 1, "type": 1 << 3, "fill value": 1 << 5, "filters": 1 << 11, "attributes": 1 << 12}
    library, creation = hdf5_library(), h5py.h5p.create(h5py.h5p.FILE_CREATE)
    flags = messages.get(shared, sum(messages.values()))
    assert library.H5Pset_shared_mesg_nindexes(ctypes.c_int64(creation.id), 1) >= 0
    assert library.H5Pset_shared_mesg_index(ctypes.c_int64(creation.id), 0, flags, 10) >= 0
    rows = np.array([(3, 1.0), (1, 2.0), (2, 3.0)], [("k", "i4"), ("v", "f8")])
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    with h5py.File(h5py.h5f.create(bytes(source), h5py.h5f.ACC_TRUNC, fcpl=creation)) as file:
        for name in "ab":
            made = file.create_dataset(f"g/{name}", data=rows, chunks=(2,), compression="gzip", fillvalue=rows[0])
            made.attrs["row"], made.attrs["text"] = rows[1], "long " * 40
    leaky = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # H5Pdecode() loses the names of filters
    ok("h5sort", f"{source}:/g", "-k", "a.k", "-o", out, env={**os.environ, "ASAN_OPTIONS": leaky})
    # In a process of its own: HDF5 crashes where it follows such a message.
    read = "import h5py, sys; [h5py.File(sys.argv[1])['g/' + name][:] for name in 'ab']"
    subprocess.run([sys.executable, "-c", read, out], check=True, timeout=SECONDS)
    with h5py.File(out) as file:
        for name in "ab":
            made = file[f"g/{name}"]
            assert made[:].tolist() == sorted(rows.tolist()) and made.fillvalue == rows[0]
            assert made.attrs["row"] == rows[1] and made.attrs["text"] == "long " * 40


def test_names_in_quotes(tmp_path):
    names = ["odd name", "a,b", "a:desc", "with\"quote", ":", "日本", "x[0]", "-k"]
    source = make(tmp_path / "in.h5", **{f"g__{name}": np.roll(np.arange(9), shift) for shift, name in enumerate(names)})
    for shift, name in enumerate(names):
        quoted = '"' + name.replace('"', '""') + '"'
        ok("h5sort", f"{source}:/g", "-k", f"{quoted}:desc", "--columns", quoted, "--index", "/i", "-o", tmp_path / "out.h5", "--truncate")
        with h5py.File(tmp_path / "out.h5") as file:
            assert list(file["g"]) == [name] and file["i"][0] == (8 + shift) % 9
        assert ok("h5select", f"{source}:/g", "--where", f"{quoted} == 4", "--unique", quoted, "--count") == "1\n"


def test_numbers_beyond_64_bits(tmp_path):
    source = make(tmp_path / "in.h5", x=np.arange(9))
    for rows, count in (("0:18446744073709551616", 9), ("-99999999999999999999:5", 5), ("::99999999999999999999", 1)):
        assert ok("h5select", source, "--rows", rows, "--count") == f"{count}\n"
    assert "does not fit 63 bits" in refused("h5sort", source, "--head", "9223372036854775808", "-o", tmp_path / "out.h5")
    assert "'+-5' is no value" in refused("h5scan", source, "--init", "+-5", "-o", tmp_path / "out.h5")


@pytest.mark.parametrize("chunk", ["600000000", "4294967296", "9223372036854775807"])
def test_chunks_of_more_than_4_gib(tmp_path, chunk):
    source = make(tmp_path / "in.h5", x=(np.array([3, 1, 2]), {"maxshape": (None,), "chunks": (2,)}))
    message = refused("h5sort", source, "--chunk", chunk, "-S", "1G", "-o", tmp_path / "out.h5")
    assert "memory" in message


def test_paths_with_dots(tmp_path):
    source = make(tmp_path / "in.h5", g__x=np.array([3, 1, 2]))
    ok("h5sort", f"{source}:/./g/./x", "-o", f"{tmp_path / 'out.h5'}:/./y/.")
    assert load(tmp_path / "out.h5", "y").tolist() == [1, 2, 3]


def test_reports_through_links(tmp_path):
    source = make(tmp_path / "in.h5", x=np.array([3, 1, 2]))
    log = tmp_path / "log"
    log.write_text("before\n")
    with open(log, "a", encoding="utf-8") as stream:
        process = subprocess.run([program("h5sort"), source, "-o", tmp_path / "out.h5", "--json", f"/dev/fd/{stream.fileno()}"],
                                 check=False, pass_fds=[stream.fileno()])
    assert process.returncode == 0 and log.read_text().startswith("before\n{")
    link = tmp_path / "link.json"
    link.symlink_to("target.json")
    ok("h5sort", source, "-o", tmp_path / "out.h5", "--overwrite", "--json", link)
    assert link.is_symlink() and (tmp_path / "target.json").read_text().startswith("{")
    link.unlink()
    link.symlink_to("in.h5")
    assert "replace the HDF5 file" in refused("h5sort", source, "-o", tmp_path / "out.h5", "--overwrite", "--json", link)
    assert load(source, "x").tolist() == [3, 1, 2]


@pytest.mark.parametrize("leads_to,part", [("none/report.json", "No such file"), ("link.json", "Too many levels")])
def test_reports_through_links_that_lead_nowhere(tmp_path, leads_to, part):
    source, link = make(tmp_path / "in.h5", x=np.array([3, 1, 2])), tmp_path / "link.json"
    link.symlink_to(leads_to)
    assert part in refused("h5sort", source, "-o", tmp_path / "out.h5", "--json", link)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5", "link.json"] and link.is_symlink()
