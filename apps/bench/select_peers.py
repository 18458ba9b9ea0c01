#!/usr/bin/env python3
"""h5select against what its users write today, as whole processes in turn: h5py + numpy over a group of columns (read
all, mask, write) and PyTables' read_where over compound rows. Inputs and outputs are gzip 4 with shuffle, kept in
--folder; outputs are compared with numpy's. Prints medians and ratios as a table.

  apps/bench/select_peers.py --h5select build/release/apps/h5select [--rows 1e8] [--cores 0] [--folder /dev/shm]

Needs h5py and PyTables (Debian: python3-h5py, python3-tables).
"""

import argparse
import pathlib
import shutil
import statistics
import sys
import tempfile

from process_runner import helper, measured

CHUNK = 131072
BLOCK = 32 * CHUNK
LAYOUT = {"chunks": (CHUNK,), "compression": "gzip", "compression_opts": 4, "shuffle": True}
# A quarter of the rows pass, none of them a whole chunk.
WHERE = "energy > 3 && channel < 3000"
NUMEXPR = "(energy > 3) & (channel < 3000)"


def blocks(rows):
    """Columns of an event list: rising times, skewed and rounded reals, small integers."""
    import numpy as np

    random = np.random.default_rng(7)
    start = 1_700_000_000_000_000_000
    for first in range(0, rows, BLOCK):
        n = min(BLOCK, rows - first)
        times = start + np.cumsum(random.exponential(1000, n).astype("i8"))
        start = times[-1]
        yield first, {"time": times, "energy": random.exponential(3, n).astype("f4"),
                      "channel": random.integers(0, 4096, n).astype("u2"),
                      "charge": np.round(random.normal(100, 20, n), 2)}


def make_group(path, rows):
    import h5py

    with h5py.File(path, "w") as file:
        group = file.create_group("events")
        for first, columns in blocks(rows):
            for name, values in columns.items():
                if name not in group:
                    group.create_dataset(name, (rows,), values.dtype, **LAYOUT)
                group[name][first:first + len(values)] = values


def make_rows(path, rows):
    import numpy as np
    import tables

    with tables.open_file(path, "w") as file:
        table = None
        for _, columns in blocks(rows):
            packed = np.rec.fromarrays(columns.values(), names=list(columns))
            if table is None:
                table = file.create_table("/", "events", packed.dtype, expectedrows=rows, chunkshape=(CHUNK // 4,),
                                          filters=tables.Filters(complevel=4, complib="zlib", shuffle=True))
            table.append(packed)


def h5py_select(source, target):
    """All columns into memory, a mask, the rows out."""
    import h5py

    with h5py.File(source) as file, h5py.File(target, "w") as out:
        columns = {name: file["events"][name][...] for name in file["events"]}
        mask = (columns["energy"] > 3) & (columns["channel"] < 3000)
        group = out.create_group("events")
        for name, values in columns.items():
            group.create_dataset(name, data=values[mask], **LAYOUT)


def pytables_select(source, target):
    import tables

    with tables.open_file(source) as file, tables.open_file(target, "w") as out:
        table = file.root.events
        out.create_table("/", "events", obj=table.read_where(NUMEXPR), filters=table.filters,
                         chunkshape=table.chunkshape)


def require_equal(ours, theirs):
    import h5py
    import numpy as np

    with h5py.File(ours) as a, h5py.File(theirs) as b:
        pairs = [(a["events"], b["events"])]
        if isinstance(a["events"], h5py.Group):
            pairs = [(a["events"][name], b["events"][name]) for name in b["events"]]
        for mine, other in pairs:
            if mine.shape != other.shape or mine.dtype != other.dtype:
                sys.exit(f"{mine.name}: {mine.shape} {mine.dtype} instead of {other.shape} {other.dtype}")
            for first in range(0, len(mine), BLOCK):
                part = slice(first, first + BLOCK)
                if not np.array_equal(mine[part], other[part]):
                    sys.exit(f"{mine.name}: rows from {first} on differ")


def measure(title, words, peer, cores, rounds):
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(measured(*words, cores))
        theirs.append(measured(*peer, cores))
        if len(ours) == 1:
            helper(__file__, "compare", words[1], peer[1])
    (wall, cpu, memory), (peer_wall, peer_cpu, peer_memory) = (
        [statistics.median(column) for column in zip(*each)] for each in (ours, theirs))
    print(f"| {title} | {wall:.2f} | {cpu:.2f} | {memory:.0f} | {peer_wall:.2f} | {peer_cpu:.2f} | {peer_memory:.0f} | "
          f"{peer_wall / wall:.2f} | {peer_cpu / cpu:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--h5select", required=True)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", default="", help="as taskset takes them; default: all")
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--only", choices=["h5py", "pytables"])
    parser.add_argument("--keep", help="a folder in which the inputs are kept from run to run")
    wanted = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="select-peers-", dir=wanted.folder))
    inputs = pathlib.Path(wanted.keep or scratch)
    print("| against | h5select s | cpu s | MiB | peer s | cpu s | MiB | ratio | of cpu |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    try:
        for name, title in (("h5py", "h5py + numpy, a group of columns"),
                            ("pytables", "PyTables read_where, compound rows")):
            if wanted.only not in (None, name):
                continue
            source = inputs / f"{name}-{wanted.rows}.h5"
            if not source.exists():
                helper(__file__, "make", name, source, wanted.rows)
            target, other = scratch / "ours.h5", scratch / "peer.h5"
            measure(title, ([wanted.h5select, f"{source}:/events", "--where", WHERE, "-o", str(target)], target),
                    ([sys.executable, __file__, name, str(source), str(other)], other), wanted.cores, wanted.rounds)
    finally:
        shutil.rmtree(scratch)


command = sys.argv[1:2]
if command == ["make"]:
    {"h5py": make_group, "pytables": make_rows}[sys.argv[2]](sys.argv[3], int(sys.argv[4]))
elif command == ["compare"]:
    require_equal(*sys.argv[2:])
elif command in (["h5py"], ["pytables"]):
    {"h5py": h5py_select, "pytables": pytables_select}[command[0]](*sys.argv[2:])
else:
    main()
