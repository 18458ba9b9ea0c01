#!/usr/bin/env python3
"""Draws the chart of docs/performance.md for the GPU from the tables that stand there.

usage: gpu_chart.py [DOCUMENT]      writes performance-gpu.svg beside it
"""

import pathlib
import sys

from bars import bars

SCANS = "scan, 2^28 items unless said"
SEGMENTS = "scan and reduction of segments, u32 sum, 2^28 items"
SMALL = 24  # 2^24 items take microseconds, launches included; below it a share of the copy says little


def rows_of(text, table):
    """name -> what it takes of the copy, of one table named by its first column's head."""
    lines = iter(text.splitlines())
    head = next((line for line in lines if line.startswith(f"| {table} |")), None)
    if head is None:
        sys.exit(f"no table '{table}'")
    column = next(i for i, cell in enumerate(head.split("|")) if cell.strip() in ("of copy", "of floor"))
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        cells = line.split("|")
        yield cells[1].strip(), float(cells[column])


def goal(name):
    if name.startswith("f64 repro"):
        return 0.93
    if "reproducible" in name:
        return 0.95
    if name.endswith("2^24"):
        return 0.92
    if name.endswith("2^26"):
        return 0.95
    if name.startswith(("u64", "f64")):
        return 0.96
    return 0.85 if name.startswith(("u8", "u16", "user")) else 0.97


def main():
    document = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                            pathlib.Path(__file__).resolve().parents[2] / "docs/performance.md")
    text = document.read_text()
    rows = [(name, share, goal(name)) for name, share in rows_of(text, SCANS)
            if "2^" not in name or int(name.rsplit("2^", 1)[1]) >= SMALL]
    rows += [(f"segments: {name}", share, 0.90) for name, share in rows_of(text, SEGMENTS)]
    picture = document.with_name(document.stem + "-gpu.svg")
    picture.write_text(bars("share of the speed at which the GPU copies the same bytes; black tick: to reach",
                            rows, 1, step=0.2))


if __name__ == "__main__":
    main()
