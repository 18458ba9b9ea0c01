#!/usr/bin/env python3
"""h5sort with and without a GPU against h5py with numpy and with cupy, stage by stage, for a u32 dataset and for
a table of five columns sorted by the first, contiguous and gzip 4 with shuffle, files in --folder. Outputs are compared
with numpy's. The peers are one process: both sort what was read once, and what is written once counts for both.

  apps/bench/sort_peers.py --h5sort build/cuda/apps/h5sort [--gib 4] [--gzip-gib 1] [--rounds 1] [--folder /dev/shm]

Needs h5py and cupy; without cupy its column stays empty.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shutil
import sys
import tempfile
import time
import zlib

import h5py
import numpy as np

from process_runner import helper, measured

CHUNK = 262144
COLUMNS = {"time": "u8", "energy": "f8", "charge": "f8", "channel": "u4", "gain": "f4"}


def values_of(kind, n, seed):
    random = np.random.default_rng(seed)
    if kind[0] == "u":
        return random.integers(0, 2 ** min(8 * int(kind[1]), 63), n, dtype=kind)
    return np.round(random.normal(100, 20, n), 2).astype(kind)


def encode(kind, n, seed):
    """A chunk as HDF5's shuffle and deflate filters would leave it."""
    data = values_of(kind, n, seed)
    planes = data.view("u1").reshape(-1, data.itemsize).T
    return zlib.compress(planes.tobytes(), 4)


def make(group, name, kind, rows, gzip):
    """Values that depend on the chunk alone, whatever the layout."""
    options = {"chunks": (CHUNK,), "compression": "gzip", "compression_opts": 4, "shuffle": True} if gzip else {}
    dataset = group.create_dataset(name, (rows,), kind, **options)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        made = pool.map(encode if gzip else values_of, [kind] * (rows // CHUNK), [CHUNK] * (rows // CHUNK),
                        range(rows // CHUNK), chunksize=4)
        for number, chunk in enumerate(made):
            if gzip:
                dataset.id.write_direct_chunk((number * CHUNK,), chunk)
            else:
                dataset[number * CHUNK:(number + 1) * CHUNK] = chunk


def timed(stages, name, work):
    start = time.perf_counter()
    result = work()
    stages[name] = stages.get(name, 0) + time.perf_counter() - start
    return result


def on_gpu(columns):
    """The columns in the order of the first, by cupy; None where it is not there."""
    try:
        import cupy
        cupy.cuda.runtime.getDeviceCount()
    except Exception:  # noqa: BLE001 - whatever keeps a GPU away
        return None
    there = [cupy.asarray(column) for column in columns]
    if len(there) == 1:
        return [cupy.asnumpy(cupy.sort(there[0]))]
    order = cupy.argsort(there[0])
    return [cupy.asnumpy(column[order]) for column in there]


def on_cpu(columns):
    if len(columns) == 1:
        return [np.sort(columns[0])]
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]


def peer(source, target):
    """Prints the seconds of each stage."""
    stages = {}
    with h5py.File(source) as file, h5py.File(target, "w") as out:
        datasets = [file["x"]] if "x" in file else [file["t"][name] for name in COLUMNS]
        columns = timed(stages, "read", lambda: [dataset[...] for dataset in datasets])
        if on_gpu([column[:1000] for column in columns]) is not None:  # its start is not counted
            timed(stages, "cupy", lambda: on_gpu(columns))
        columns = timed(stages, "numpy", lambda: on_cpu(columns))

        def write():
            for dataset, values in zip(datasets, columns):
                options = {"chunks": dataset.chunks, "compression": dataset.compression,
                           "compression_opts": dataset.compression_opts, "shuffle": dataset.shuffle}
                out.create_dataset(dataset.name, data=values, **(options if dataset.chunks else {}))
            out.flush()

        timed(stages, "write", write)
    print(json.dumps(stages))


def require_equal(ours, theirs):
    with h5py.File(ours) as a, h5py.File(theirs) as b:
        names = ["x"] if "x" in b else [f"t/{name}" for name in COLUMNS]
        for name in names:
            for first in range(0, len(b[name]), 1 << 25):
                part = slice(first, first + (1 << 25))
                if not np.array_equal(a[name][part], b[name][part]):
                    sys.exit(f"{name}: rows from {first} on differ")


def run_h5sort(program, backend, source, target, report):
    path = f"{source}:/x" if "dataset" in str(source) else f"{source}:/t"
    words = [program, path, "-o", target, "--backend", backend, "--json", report, "--progress", "off"]
    if path.endswith("/t"):
        words += ["-k", "time"]
    seconds = measured(words, target).wall
    stages = {stage["name"]: stage["seconds"] for stage in json.loads(pathlib.Path(report).read_text())["stages"]}
    return seconds, stages


def text_of(stages, names):
    return " + ".join(f"{stages.get(name, 0):.2f}" for name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--h5sort", required=True)
    parser.add_argument("--gib", type=float, default=4, help="of the dataset; the table has half of it")
    parser.add_argument("--gzip-gib", type=float, help="the same for compressed input; default: as --gib")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--backends", default="cuda,cpu")
    wanted = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="sort-peers-", dir=wanted.folder))
    print("| input | h5sort | s | read + sort + write | numpy s | cupy s | read + sort + write | x numpy | x cupy |\n"
          "|---|---|--:|---|--:|--:|---|--:|--:|", flush=True)
    try:
        for shape in ("dataset", "table"):
            for gzip in (False, True):
                gib = wanted.gzip_gib if gzip and wanted.gzip_gib else wanted.gib
                source = scratch / f"{shape}.h5"
                with h5py.File(source, "w") as file:
                    if shape == "dataset":
                        make(file, "x", "u4", int(gib * 2**28) // CHUNK * CHUNK, gzip)
                    else:
                        for name, kind in COLUMNS.items():
                            make(file.require_group("t"), name, kind, int(gib * 2**24) // CHUNK * CHUNK, gzip)
                other = scratch / "peer.h5"
                peers = json.loads(helper(__file__, "peer", source, other))
                io = peers["read"] + peers["write"]
                numpy_s, cupy_s = io + peers["numpy"], io + peers.get("cupy", float("nan"))
                for backend in wanted.backends.split(","):
                    target = scratch / "ours.h5"
                    rounds = [run_h5sort(wanted.h5sort, backend, source, target, scratch / "report.json")
                              for _ in range(wanted.rounds)]
                    require_equal(target, other)
                    seconds, stages = sorted(rounds, key=lambda each: each[0])[len(rounds) // 2]
                    half = gib if shape == "dataset" else gib / 2
                    layout = "gzip 4, shuffle" if gzip else "contiguous"
                    print(f"| {shape}, {half:g} GiB, {layout} | {backend} | {seconds:.2f} | "
                          f"{text_of(stages, ('read', 'sort', 'write'))} | {numpy_s:.2f} | {cupy_s:.2f} | "
                          f"{peers['read']:.2f} + {peers['numpy']:.2f} ({peers.get('cupy', float('nan')):.2f}) + "
                          f"{peers['write']:.2f} | {numpy_s / seconds:.2f} | {cupy_s / seconds:.2f} |", flush=True)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    if sys.argv[1:2] == ["peer"]:
        peer(*sys.argv[2:])
    else:
        main()
