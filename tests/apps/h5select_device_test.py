"""h5select --backend cuda against --backend cpu: the same files, on the emulated device and on a GPU, in batches of every
kind; what a GPU cannot evaluate, by name and by itself; faults; bounded memory.
"""

import json
import os
import subprocess

import h5py
import numpy as np
import pytest
from support import BUILD, SECONDS, make, ok, program, refused

PROGRAMS = {"emulated": str(BUILD / "tests/h5select_emulated"), "cuda": program("h5select")}
N = 3000


@pytest.fixture(name="table", scope="module")
def table_fixture(tmp_path_factory):
    """Columns of every stored type, with odd chunks, byte orders and strides."""
    rng = np.random.default_rng(5)
    reals = rng.standard_normal(N)
    reals[::7] = np.nan
    reals[::11] = np.inf
    data = {f"{kind}{size}": rng.integers(0, 100, N).astype(f"{order}{kind}{size}")
            for kind, order in (("i", "<"), ("u", ">")) for size in (1, 2, 4, 8)}
    data |= {"f2": reals.astype("<f2"), "f4": reals.astype(">f4"), "f8": reals, "b": rng.integers(0, 2, N).astype(bool),
             "s": rng.choice(np.array([b"a", b"bb"], "S3"), N), "p": rng.standard_normal((N, 3)).astype("f4"),
             "day": np.sort(rng.integers(0, 40, N))}
    path = tmp_path_factory.mktemp("table") / "in.h5"
    with h5py.File(path, "w") as file:
        for at, (name, values) in enumerate(data.items()):
            chunks = (97 + 13 * at,) + values.shape[1:] if at % 2 else None
            file.create_dataset(f"t/{name}", data=values, chunks=chunks, compression="gzip" if chunks else None)
        file.create_dataset("t/text", data=[f"v{i % 5}" for i in range(N)], dtype=h5py.string_dtype())
        rows = np.zeros(N, [("a", "<i4"), ("b", "<f8"), ("c", "S5")])
        rows["a"], rows["b"] = data["i4"], data["f8"]
        file["rows"] = rows
        file["mask"] = data["u2"] % 3 == 0
        file["empty"] = np.zeros(0)
        for rows in (1, 31, 32, 33):
            file[f"short{rows}"] = data["f8"][:rows]
    return path


@pytest.fixture(name="kind", params=["emulated", "cuda"])
def kind_fixture(request, table):
    """A program whose --backend cuda works; skips, and says why, where there is none."""
    name = PROGRAMS[request.param]
    required = request.param == "cuda" and os.environ.get("LOOKBACK_REQUIRE_CUDA") == "1"
    if not os.path.exists(name):
        assert not required, f"{name} is not built"
        pytest.skip(f"{name} is not built here")
    said = select(request.param, f"{table}:/empty", "--where", "empty > 0", "--count")
    if said.returncode != 0:
        assert not required and request.param == "cuda", said.stderr
        pytest.skip(f"no GPU here: {said.stderr.strip()}")
    return request.param


def select(kind, *words, backend="cuda", batch=0):
    environment = os.environ | ({"LOOKBACK_BATCH_ROWS": str(batch)} if batch else {})
    return subprocess.run([PROGRAMS[kind], *map(str, words), "--backend", backend], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, env=environment, timeout=SECONDS)


def same_as_cpu(kind, tmp_path, *words, batch=0):
    """Both backends write the same objects; returns the report of the GPU's."""
    outs = []
    for backend in ("cpu", "cuda"):
        out = tmp_path / f"{backend}{len(os.listdir(tmp_path))}.h5"
        report = tmp_path / f"{backend}.json"
        done = select(kind, *words, "-o", out, "--json", report, backend=backend, batch=batch)
        assert (done.returncode, done.stderr) == (0, ""), done
        told = json.loads(report.read_text())
        assert told["backend"] == backend
        outs.append(out)
    contents = [read_all(out) for out in outs]
    assert contents[0] == contents[1]
    return told


def read_all(path):
    """Every dataset's type, shape and bytes."""
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: found.__setitem__(
            name, (str(item.dtype), item.shape, item[()].tolist() if item.dtype.hasobject else item[()].tobytes()))
            if isinstance(item, h5py.Dataset) else None)
    assert found
    return found


CONDITIONS = [
    "i1 > 50", "i2 + i4 > 100 and i8 < 90", "u1 != 3 or u2 % 7 == 2", "u4 * u8 > 2500", "f2 > 0.5", "f4 < 0 || isnan(f8)",
    "f8 between -1 and 1", "f8 != f8", "!(f8 > 0)", "b", "b and not (i1 == 5)", "p[1] > p[2]", "row % 3 == 1", "row < 1000",
    "true", "false", "f4 > 1e30", "i8 >= 0", "u8 > i8", "i8 * i8 * i8 > 100000", "sqrt(abs(f8)) + floor(f4) > 1",
    "i4 in (1, 2, 3, 50)", "min(i1, u1) < 10 and max(f4, f8) > 0", "u8 > f8", "i4 << 3 > 200",
]

# Those that come to range tests.
RANGES = {"i1 > 50", "f2 > 0.5", "f4 < 0 || isnan(f8)", "f8 between -1 and 1", "!(f8 > 0)", "b", "b and not (i1 == 5)", "true",
          "false", "f4 > 1e30", "i8 >= 0", "i4 in (1, 2, 3, 50)"}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_same_rows(table, kind, tmp_path, condition):
    told = same_as_cpu(kind, tmp_path, f"{table}:/t", "--where", condition, "--indices", "/n", "--columns", "i4,f8,s,text",
                       batch=1000)
    assert told["backend_reason"] == "asked for by name"
    assert told["strategy"] == ("terms" if condition in RANGES else "steps")


@pytest.mark.parametrize("batch", [1, 31, 32, 33, 64, 97, 1023, 1024, 1025, N - 1, N, N + 1])
def test_batches(table, kind, tmp_path, batch):
    words = ["--where", "f8 > 0 and i4 % 5 != 0", "--columns", "i4,f8"]
    if batch == 1:  # a launch a row
        words[1] = "row == 32 or f8 > 0"
        same_as_cpu(kind, tmp_path, f"{table}:/short33", "--where", "short33 > 0 and row != 2", batch=batch)
        return
    same_as_cpu(kind, tmp_path, f"{table}:/t", *words, batch=batch)
    same_as_cpu(kind, tmp_path, f"{table}:/t", *words, "--invert", batch=batch)
    same_as_cpu(kind, tmp_path, f"{table}:/t", *words, "--unique", "day,s", batch=batch)


@pytest.mark.parametrize("name", ["empty", "short1", "short31", "short32", "short33"])
def test_few_rows(table, kind, tmp_path, name):
    for condition in (f"{name} > 0", "true", "false"):
        same_as_cpu(kind, tmp_path, f"{table}:/{name}", "--where", condition)


def test_other_ways_in_and_out(table, kind, tmp_path):
    same_as_cpu(kind, tmp_path, f"{table}:/rows", "--where", "a > 20 and b < 1", batch=700)
    same_as_cpu(kind, tmp_path, f"{table}:/rows", "--where", "a > 20", "--unique", "c", batch=700)
    same_as_cpu(kind, tmp_path, f"{table}:/t", "--mask", "/mask", "--columns", "text,p", batch=700)
    same_as_cpu(kind, tmp_path, f"{table}:/t", "--where", "i4 > 20", "--unique", "text", "--columns", "text", batch=700)
    for backend in ("cpu", "cuda"):
        done = select(kind, f"{table}:/short33", "--where", "short33 > 0", "--explain", "--count", backend=backend)
        assert done.returncode == 0
        assert backend == "cpu" or done.stdout == explained
        explained = done.stdout
    planned = select(kind, f"{table}:/t", "--where", "i4 > 20", "--count", "--dry-run")
    assert "with    cuda, " in planned.stdout


def test_faults_name_their_row(table, kind):
    words = [f"{table}:/t", "--where", "i4 % (row - 1500) == 1", "--count"]
    said = [select(kind, *words, backend=backend, batch=400) for backend in ("cpu", "cuda")]
    assert said[0].returncode == said[1].returncode == 2
    assert said[0].stderr == said[1].stderr and "row 1500: a remainder of a division by zero" in said[1].stderr
    guarded = [f"{table}:/t", "--where", "row != 1500 && i4 % (row - 1500) == 1", "--count"]
    said = [select(kind, *guarded, backend=backend, batch=400) for backend in ("cpu", "cuda")]
    assert said[0].stdout == said[1].stdout != ""


def test_a_gpu_is_asked_for_by_name(table, kind, tmp_path):
    report = tmp_path / "report.json"
    for backend, used, reason in (("auto", "cpu", "--backend cuda asks for a GPU"), ("cuda", "cuda", "asked for by name")):
        done = select(kind, f"{table}:/t", "--where", "i4 > 3", "--count", "--json", report, "-v", backend=backend)
        told = json.loads(report.read_text())
        assert told["backend"] == used and told["backend_reason"].endswith(reason), told
        assert f"{used}: {told['backend_reason']}" in done.stderr


def test_refusals_by_name_point_at_the_text(table):
    """Before a GPU is looked for: the same with and without one."""
    words = [f"{table}:/t", "--count", "--backend", "cuda"]
    said = refused("h5select", *words, "--where", "i4 > 3 and s == 'a'")
    assert said == "the expression, at column 12: a GPU cannot evaluate it: text is compared; give --backend cpu"
    said = refused("h5select", *words, "--where", "'v1' == text")
    assert said.startswith("the expression, at column 9: a GPU cannot evaluate it")
    assert "a GPU is for --where and --mask" in refused("h5select", *words, "--rows", "1:5")


def test_memory_is_a_few_batches(kind, tmp_path):
    """What --dry-run states does not grow with the rows."""
    said = []
    for rows in (1 << 21, 1 << 22):
        path = make(tmp_path / f"{rows}.h5", x=(np.zeros(rows), {"chunks": (1 << 16,)}))
        told = select(kind, f"{path}:/x", "--where", "x > 0", "--count", "--dry-run").stdout
        said.append(told.splitlines()[-1])
    assert said[0] == said[1] and "memory  at most" in said[0]
    assert "with    cuda" in select(kind, f"{path}:/x", "--where", "x > 0", "--count", "--dry-run").stdout
