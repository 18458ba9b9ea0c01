"""Types, filters and references as strangers have them: keys where they have an order, payload in every case.

Each kind stands in public reports: bit fields as PyTables and pandas write their booleans, filters that round values
again, columns of object and region references, references elsewhere in a file to what is replaced in it.
"""

import h5py
import numpy as np
import pytest
import tables

from support import load, make, ok, refused, run

RNG = np.random.default_rng(20261202)
ROWS = 300


@pytest.fixture(name="flags")
def fixture_flags(tmp_path):
    """/t: a table of PyTables with booleans, one of them nested; /mask: its booleans alone."""

    class Row(tables.IsDescription):
        flag = tables.BoolCol()
        value = tables.Int32Col()

        class inner(tables.IsDescription):
            deep = tables.BoolCol()

    flags = RNG.random(ROWS) < 0.4
    with tables.open_file(tmp_path / "in.h5", "w") as file:
        table = file.create_table("/", "t", Row)
        for row, flag in enumerate(flags):
            table.row["flag"], table.row["value"], table.row["inner/deep"] = flag, row, not flag
            table.row.append()
        file.create_array("/", "mask", flags)
        file.create_carray("/", "mask2", obj=flags, chunkshape=(64,), filters=tables.Filters(4, "zlib", shuffle=True))
    return tmp_path / "in.h5", flags


def test_booleans_of_pytables(flags, tmp_path):
    source, is_set = flags
    for condition, rows in (("flag", is_set), ("not flag", ~is_set), ("flag == true and value > 9", is_set & (np.arange(ROWS) > 9)),
                            ("inner.deep", ~is_set), ("flag + 1 == 2", is_set)):
        assert ok("h5select", f"{source}:/t", "--where", condition, "--count") == f"{np.count_nonzero(rows)}\n"
    ok("h5sort", f"{source}:/t", "-k", "flag:desc", "-o", tmp_path / "out.h5")
    with tables.open_file(tmp_path / "out.h5") as file:
        assert file.root.t.cols.value[:].tolist() == np.argsort(~is_set, kind="stable").tolist()
        assert file.root.t.cols.flag[:].dtype == bool
    for mask in ("mask", "mask2"):
        ok("h5select", f"{source}:/t", "--mask", mask, "-o", tmp_path / f"{mask}.h5")
        with tables.open_file(tmp_path / f"{mask}.h5") as file:
            assert file.root.t.cols.value[:].tolist() == np.flatnonzero(is_set).tolist()
        ok("h5scan", f"{source}:/{mask}", "-o", tmp_path / f"{mask}.h5")
        assert (load(tmp_path / f"{mask}.h5", mask) == np.cumsum(is_set)).all()
        ok("h5sort", f"{source}:/{mask}", "-o", tmp_path / f"{mask}.h5:/sorted")
        with tables.open_file(tmp_path / f"{mask}.h5") as file:
            assert file.root.sorted[:].tolist() == np.sort(is_set).tolist()


BLOCKS = np.concatenate([RNG.integers(0, 200, 100) + 100000 * block for block in (3, 0, 2, 1)]).astype("i4")
REALS = RNG.random(400).astype("f4") * 1000


@pytest.mark.parametrize("values,offset,kept", [(BLOCKS, 8, False), (BLOCKS, 0, True), (REALS, 2, False)])
def test_filters_that_would_round_values(tmp_path, values, offset, kept):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("g/x", data=values, chunks=(100,), scaleoffset=offset)
        file["g/k"] = RNG.random(400)
        stored, keys = file["g/x"][:], file["g/k"][:]
    process = run("h5sort", f"{tmp_path / 'in.h5'}:/g", "-k", "k", "-o", tmp_path / "out.h5")
    assert process.returncode == 0
    assert ("scale-offset" in process.stderr) != kept and len(process.stderr.splitlines()) == (0 if kept else 1)
    ok("h5select", f"{tmp_path / 'in.h5'}:/g", "--rows", "::2", "-o", tmp_path / "half.h5", "-f", "GZIP=1")
    with h5py.File(tmp_path / "out.h5") as file, h5py.File(tmp_path / "half.h5") as half:
        assert (file["g/x"][:] == stored[np.argsort(keys)]).all()
        assert (half["g/x"][:] == stored[::2]).all()
        assert (file["g/x"].scaleoffset is None) != kept
        assert kept or (file["g/x"].compression, file["g/x"].shuffle) == ("gzip", True)


@pytest.fixture(name="linked", params=[0, 512])
def fixture_linked(tmp_path, request):
    """/g: keys k, references r to objects (one is null), regions q, sequences s of references; /far, /other."""
    with h5py.File(tmp_path / "in.h5", "w", userblock_size=request.param) as file:
        file["far"], file["other"], file["g/k"] = np.arange(9), np.arange(5), np.array([3, 1, 2, 0])
        file["g/r"] = np.array([file["far"].ref, file["g/k"].ref, file["g"].ref, h5py.Reference()], h5py.ref_dtype)
        regions = [file["far"].regionref[2:4], file["other"].regionref[:1], file["far"].regionref[5:], file["g/k"].regionref[:2]]
        file.create_dataset("g/q", (4,), h5py.regionref_dtype, chunks=(2,))[:] = np.array(regions, h5py.regionref_dtype)
        rows = file.create_dataset("g/s", (4,), h5py.vlen_dtype(h5py.ref_dtype))
        for row in range(4):
            rows[row] = np.array([file["other"].ref] * row, h5py.ref_dtype)
    return tmp_path / "in.h5"


def names_of(file, references):
    return [file[reference].name if reference else None for reference in references]


def test_columns_of_references_in_their_file(linked, tmp_path):
    for out in (linked, tmp_path / "copy.h5"):
        if out != linked:
            out.write_bytes(linked.read_bytes())
            with h5py.File(out, "a") as file:
                del file["g"], file["g2"]
        process = run("h5sort", f"{linked}:/g", "-k", "k", "-o", f"{out}:/g2")
        assert process.returncode == 0 and len(process.stderr.splitlines()) == 1, process
        assert "g2/q: 1 of its references" in process.stderr  # a region of k, whose rows are others now
        with h5py.File(out) as file:
            group = file["g2"]
            assert names_of(file, group["r"][:]) == [None, "/g2/k", "/g2", "/far"]
            assert [len(row) for row in group["s"]] == [3, 1, 2, 0]
            assert names_of(file, group["s"][0]) == ["/other"] * 3
            q = group["q"][:]
            assert not q[0] and names_of(file, q[1:]) == ["/other", "/far", "/far"]
            assert file["far"][q[2]].tolist() == [5, 6, 7, 8] and file["far"][q[3]].tolist() == [2, 3]


def test_columns_of_references_in_another_file(linked, tmp_path):
    process = run("h5select", f"{linked}:/g", "--where", "k > 0", "-o", tmp_path / "out.h5")
    assert process.returncode == 0
    assert sorted(line.split(":")[3].split("/")[-1] for line in process.stderr.splitlines() if "empty" in line) == ["q", "r", "s"]
    with h5py.File(tmp_path / "out.h5") as file:
        assert names_of(file, file["g/r"][:]) == [None, "/g/k", "/g"]


def test_merging_references_of_several_files(linked, tmp_path):
    ok("h5sort", f"{linked}:/g", "-k", "k", "--columns", "k,r", "-o", f"{linked}:/a")
    (tmp_path / "b.h5").write_bytes(linked.read_bytes())
    message = refused("h5sort", "-m", f"{linked}:/a", f"{tmp_path / 'b.h5'}:/a", "-k", "k", "-o", tmp_path / "out.h5")
    assert "b.h5:/a/r" in message and "references" in message


def test_what_refers_to_replaced_objects(tmp_path):
    source = make(tmp_path / "in.h5", g__t=np.array([3.0, 1, 2]), g__v=np.array([30.0, 10, 20]), elsewhere=np.arange(3.0))
    with h5py.File(source, "a") as file:
        file["refs"] = np.array([file["g/v"].ref, file["elsewhere"].ref, file["g"].ref], h5py.ref_dtype)
        file["elsewhere"].attrs["about"] = file["g/t"].ref
        file["g/t"].make_scale("t")
        file["elsewhere"].dims[0].attach_scale(file["g/t"])
        file["hard"] = file["g/v"]
        file["refs"].attrs["hard"] = file["hard"].ref
    ok("h5sort", f"{source}:/g", "-k", "t", "-o", source, "--overwrite", "--copy-rest")
    ok("h5sort", f"{source}:/elsewhere", "-r", "-o", source, "--overwrite")
    with h5py.File(source) as file:
        assert file["g/v"][:].tolist() == [10, 20, 30] and file["hard"][:].tolist() == [30, 10, 20]
        assert names_of(file, file["refs"][1:]) == ["/elsewhere", "/g"]
        assert file[file["elsewhere"].attrs["about"]].name == "/g/t"
        assert file["elsewhere"].dims[0][0].name == "/g/t"
        assert file[file["refs"].attrs["hard"]][:].tolist() == [30, 10, 20]


def test_replaced_groups_take_only_what_has_no_name_elsewhere(tmp_path):
    source = make(tmp_path / "in.h5", x=np.arange(3.0))
    out = make(tmp_path / "out.h5", g__sub__deep=np.arange(3.0), g__a=np.arange(4.0), g__own__lone=np.arange(5.0))
    with h5py.File(out, "a") as file:
        file["keep"], file["g/b"] = file["g/sub"], file["g/a"]
        file["refs"] = np.array([file[name].ref for name in ("g/sub/deep", "g/sub", "g/a", "g/own/lone")], h5py.ref_dtype)
    process = run("h5sort", f"{source}:/x", "-o", f"{out}:/g", "--overwrite")
    assert process.returncode == 0 and "2 references to what was replaced are empty now" in process.stderr, process
    with h5py.File(out) as file:
        assert [bool(reference) for reference in file["refs"]] == [True, True, False, False]
        assert names_of(file, file["refs"][:2]) == ["/keep/deep", "/keep"]
        assert file["keep/deep"][:].tolist() == [0, 1, 2] and file["g"][:].tolist() == [0, 1, 2]


def test_nothing_points_to_what_is_gone(tmp_path):
    source = make(tmp_path / "in.h5", far=np.arange(6.0), near=np.arange(6.0))
    with h5py.File(source, "a") as file:
        file["regions"] = np.array([file["far"].regionref[1:3], file["near"].regionref[2:4]], h5py.regionref_dtype)
    process = run("h5sort", f"{source}:/far", "-r", "-o", source, "--overwrite")
    assert process.returncode == 0 and "1 references to what was replaced are empty now" in process.stderr, process
    with h5py.File(source) as file:
        lost, kept = file["regions"][:]
        assert not lost and file[kept].name == "/near" and file[kept][kept].tolist() == [2, 3]

    out = make(tmp_path / "out.h5", g__t=np.arange(3.0), other=np.arange(3.0))
    with h5py.File(out, "a") as file:
        file["refs"] = np.array([file["g/t"].ref, file["other"].ref, file["g"].ref], h5py.ref_dtype)
    process = run("h5sort", f"{source}:/far", "-o", f"{out}:/g", "--overwrite")
    assert process.returncode == 0 and "1 references to what was replaced are empty now" in process.stderr, process
    with h5py.File(out) as file:
        assert not file["refs"][0] and names_of(file, file["refs"][1:]) == ["/other", "/g"]


def test_what_cannot_be_read_stays_as_it_is(tmp_path):
    """References to a replaced object, in holders of which a chunk, or the header, cannot be read."""
    source = tmp_path / "in.h5"
    with h5py.File(source, "w", libver="latest") as file:
        file["x"] = np.array([3, 1, 2])
        for name in ("damaged", "fine"):
            file.create_dataset(name, data=np.array([file["x"].ref] * 4, h5py.ref_dtype), chunks=(2,), compression="gzip")
        file["damaged"].id.write_direct_chunk((0,), b"no zlib stream")
        file["gone"] = np.array([file["x"].ref], h5py.ref_dtype)
        header = h5py.h5o.get_info(file["gone"].id).addr
    damaged = bytearray(source.read_bytes())
    assert damaged[header:header + 4] == b"OHDR"
    damaged[header:header + 4] = b"none"
    source.write_bytes(damaged)
    process = run("h5sort", f"{source}:/x", "-o", source, "--overwrite")
    lines = process.stderr.splitlines()
    assert process.returncode == 0 and len(lines) == 2, process
    assert ":/damaged: cannot read" in lines[0] + lines[1] and ":/gone: cannot be read" in lines[0] + lines[1]
    with h5py.File(source) as file:
        assert file["x"][:].tolist() == [1, 2, 3]
        assert all(file[reference] == file["x"] for reference in [*file["fine"][:], *file["damaged"][2:]])
        assert file["damaged"].id.read_direct_chunk((0,))[1] == b"no zlib stream"


@pytest.mark.parametrize("same_file", [False, True])
def test_references_to_what_has_several_names(tmp_path, same_file):
    """Groups and columns that other names lead to as well, which come first where objects are listed."""
    source = make(tmp_path / "in.h5", z__k=np.array([3, 1, 2]))
    with h5py.File(source, "a") as file:
        group = file["z"]
        group["q"] = np.array([group["k"].regionref[:1]] * 3, h5py.regionref_dtype)
        group["r"] = np.array([group["k"].ref, group.ref, group["q"].ref], h5py.ref_dtype)
        file["also_z"], file["also_k"] = group, group["k"]
    out = source if same_file else tmp_path / "out.h5"
    process = run("h5sort", f"{source}:/z", "-k", "k", "-o", out, *(["--overwrite"] if same_file else []))
    assert process.returncode == 0 and "z/q: 3 of its references are empty now" in process.stderr, process
    assert len(process.stderr.splitlines()) == 1, process
    with h5py.File(out) as file:
        group = file["z"]
        assert [file[reference] for reference in group["r"]] == [group, group["q"], group["k"]]
        assert not any(group["q"][:])  # other rows than they were


def test_attributes_keep_the_references_that_follow(tmp_path):
    source = make(tmp_path / "in.h5", g__t=np.arange(3.0), g__v=np.arange(3.0), far=np.arange(3.0))
    with h5py.File(source, "a") as file:
        group = file["g"]
        group["v"].attrs["three"] = np.array([group["t"].ref, file["far"].ref, group["v"].ref], h5py.ref_dtype)
        group["t"].make_scale("t")
        file["far"].make_scale("far")
        for scale in (group["t"], file["far"]):
            group["v"].dims[0].attach_scale(scale)
        file["far"].dims[0].label = "n"
        file["other"] = np.arange(3.0)
        file["other"].dims[0].attach_scale(group["t"])
    process = run("h5select", f"{source}:/g", "--where", "t > 0", "-o", tmp_path / "out.h5")
    lines = process.stderr.splitlines()
    assert process.returncode == 0 and len(lines) == 3 and all("has lost 1 of its references" in line for line in lines), process
    with h5py.File(tmp_path / "out.h5") as file:
        t, v = file["g/t"], file["g/v"]
        kept, lost, own = v.attrs["three"]
        assert file[kept] == t and not lost and file[own] == v
        assert [scale.name for scale in v.dims[0].values()] == ["/g/t"] and h5py.h5ds.is_attached(v.id, t.id, 0)
        assert [file[user].name for user, _ in t.attrs["REFERENCE_LIST"]] == ["/g/v"]


def test_the_rest_of_a_group_stays_in_its_place(tmp_path):
    source = make(tmp_path / "in.h5", g__a=np.array([3, 1, 2]), g__long=np.arange(5))
    with h5py.File(source, "a") as file:
        file["same"] = file["g/long"]
        file["g/up"], file["g/lost"] = h5py.SoftLink("/g"), h5py.SoftLink("/nowhere")
    ok("h5sort", f"{source}:/g", "-k", "a", "--columns", "a", "-o", source, "--overwrite", "--copy-rest")
    with h5py.File(source) as file:
        assert file["g/a"][:].tolist() == [1, 2, 3] and file["same"] == file["g/long"]
        assert [type(file["g"].get(name, getlink=True)) for name in ("up", "lost")] == [h5py.SoftLink] * 2


def test_both_sides_have_their_own_scales(tmp_path):
    source = make(tmp_path / "in.h5", g__t=np.arange(6.0), g__v=np.arange(6.0))
    with h5py.File(source, "a") as file:
        file["g/t"].make_scale("t")
        file["g/v"].dims[0].attach_scale(file["g/t"])
    ok("h5select", f"{source}:/g", "--where", "t > 2", "-o", f"{tmp_path / 'out.h5'}:/kept", "--rest", f"{tmp_path}/./out.h5:/rest")
    with h5py.File(tmp_path / "out.h5") as file:
        assert [file[f"{side}/v"].dims[0][0].name for side in ("kept", "rest")] == ["/kept/t", "/rest/t"]


def test_names_of_enums_and_padded_text(tmp_path):
    colours = h5py.enum_dtype({"red": -1, "green": 5, "deep blue": 7}, basetype=">i2")
    source = make(tmp_path / "in.h5", t__c=(np.array([5, -1, 7, 5]), {"dtype": colours}))
    padded = h5py.h5t.C_S1.copy()
    padded.set_size(4)
    padded.set_strpad(h5py.h5t.STR_SPACEPAD)
    with h5py.File(source, "a") as file:
        dataset = h5py.h5d.create(file.id, b"t/s", padded, h5py.h5s.create_simple((4,)))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"ab  ", b"a   ", b"abc ", b"    "]), mtype=padded)
    for condition, count in (("c == 'green'", 2), ("c in ('red', 'deep blue')", 2), ("'red' != c", 3), ("c > 'red'", 3),
                             ("s == 'ab '", 1), ("s < 'ab  '", 2), ("s in (' ', 'a')", 2), ("s between 'a ' and 'ab '", 2)):
        assert ok("h5select", f"{source}:/t", "--where", condition, "--count") == f"{count}\n", condition
    message = refused("h5select", f"{source}:/t", "--where", "c == 'blue'", "--count")
    assert "'blue' is no value of c, which has deep blue, green, red" in message
