#!/usr/bin/env python3
"""Fills docs/performance.md and its chart from what lookback-bench measured.

Usage: apps/bench/report.py RUN.json... [--document docs/performance.md]

Several files may be pieces of one run (lookback-bench --jobs ... --json ...); they must come from one
machine. A job that is in several pieces counts as in the last; the page says which commit it was
measured at. Ratios are made inside a job only: its contestants took turns.
"""

import argparse
import collections
import json
import pathlib
import statistics
import sys

from bars import bars

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
BEST = ("numpy", "vqsort")  # the better of the two is the peer

# (jobs, ours, peers of which the fastest counts, ratio to reach)
GOALS = [
    ("sort/u32 sort/i32 sort/f32", "lookback:2", BEST, 1.5),
    ("sort/u32 sort/i32 sort/f32", "lookback:1", BEST, 1.0),
    ("sort/u32 sort/i32 sort/f32", "lookback:2", ("std-sort",), 12),
    ("sort/u64 sort/f64", "lookback:2", BEST, 1.9),
    ("sort/u64 sort/f64", "lookback:1", BEST, 1.1),
    ("sort/20-bits", "lookback:2", BEST, 2.2),
    ("sort/20-bits", "lookback:1", BEST, 1.5),
    ("sort/equal sort/sorted sort/reversed sort/two-values sort/zipf sort/skewed",
     "lookback:2", BEST, 1.5),
    ("sort/equal sort/sorted sort/reversed sort/two-values sort/zipf sort/skewed",
     "lookback:1", BEST, 1.0),
    ("pairs/u32-u32 pairs/u64-u32", "lookback:2", ("std-par",), 8),
    ("argsort/u64", "lookback:2", ("numpy",), 25),
    ("argsort/u64", "lookback:2", ("std-par",), 8),
    ("scan/u32", "lookback:2", ("tbb",), 1.9),
    ("scan/u32", "lookback:1", ("std",), 1.5),
    ("scan/u32", "lookback:2", ("copy:2",), 0.88),
    ("compact/50", "lookback:2", ("copy-if",), 10),
    ("compact/50", "lookback:2", ("numpy",), 15),
    ("compact/10 compact/90", "lookback:2", ("copy-if",), 4),
    ("compact/10 compact/50 compact/90", "lookback:2", ("copy:2",), 0.8),
    ("read/gzip", "lookback:2", ("H5Dread",), 4.5),
    ("read/contiguous", "lookback:2", ("H5Dread",), 1.7),
    ("write/gzip", "lookback:2", ("H5Dwrite",), 3),
    ("h5sort/contiguous", "lookback:2", ("h5py",), 2),
    ("h5sort/gzip", "lookback:2", ("h5py",), 3),
]

# The least memory traffic of a job in copies of its data, each read once and written once.
ROUND_TRIPS = {"sort": 2, "pairs": 2, "argsort": 3, "scan": 1, "compact": 1, "read": 1, "write": 1}
# The part of its data that a job's copy moves, where it is not all: keys alone, or what a filter reads and keeps.
COPIED = {"argsort/u64": 0.5, "compact/10": 0.55, "compact/50": 0.75, "compact/90": 0.95}

NAMES = {"lookback:1": "Lookback, 1 thread", "lookback:2": "Lookback, 2 threads",
         "numpy": "numpy", "vqsort": "vqsort", "std-sort": "std::sort", "copy:1": "memcpy, 1 thread",
         "copy:2": "memcpy, 2 threads", "std-par": "std::stable_sort(par)", "tbb": "tbb::parallel_scan",
         "copy-if": "std::copy_if", "copy-if-par": "std::copy_if(par)", "std": "std::inclusive_scan", "H5Dread": "H5Dread", "H5Dwrite": "H5Dwrite",
         "h5py": "h5py + np.sort + h5py"}

Contestant = collections.namedtuple("Contestant", "median low high rounds")


class Job:
    def __init__(self, commit, runs):
        self.commit = commit
        self.description = runs[0]["label"]
        self.bytes = runs[0]["items"] * runs[0]["item_bytes"]
        times = collections.defaultdict(list)
        for run in runs:
            if run.get("error_occurred"):
                sys.exit(f"{run['name']}: {run['error_message']}")
            times[run["name"].rsplit("/", 1)[1]].append(run["real_time"])
        self.contestants = {}
        for name, values in times.items():
            quarters = statistics.quantiles(values * 2 if len(values) == 1 else values, n=4,
                                            method="inclusive")
            self.contestants[name] = Contestant(statistics.median(values), quarters[0], quarters[2],
                                                len(values))

    def fastest(self, names):
        present = [name for name in names if name in self.contestants]
        return min(present, key=lambda name: self.contestants[name].median, default=None)


def load(paths):
    contexts, jobs = [], {}
    for path in paths:
        report = json.loads(pathlib.Path(path).read_text())
        contexts.append(report["context"])
        grouped = collections.defaultdict(list)
        for run in report["benchmarks"]:
            grouped[run["name"].rsplit("/", 1)[0]].append(run)
        commit = report["context"]["commit"]
        jobs.update({name: Job(commit, runs) for name, runs in grouped.items()})
    for key in ("cpu", "cores", "memory", "compiler", "quick"):
        if len({context[key] for context in contexts}) != 1:
            sys.exit(f"the files differ in {key}; measure all pieces alike")
    return contexts, jobs


def outcomes(jobs):
    """Yields (job name, job, ours, peer, ratio, goal) for every goal whose job was measured."""
    for names, ours, peers, goal in GOALS:
        for name in names.split():
            job = jobs.get(name)
            peer = job and job.fastest(peers)
            if peer and ours in job.contestants:
                ratio = job.contestants[peer].median / job.contestants[ours].median
                yield name, job, ours, peer, ratio, goal


def milliseconds(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def table(head, rows):
    lines = [head, ["---"] + ["--:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def goals_table(jobs):
    rows, order = [], list(jobs)
    for name, job, ours, peer, ratio, goal in sorted(
            outcomes(jobs), key=lambda outcome: order.index(outcome[0])):
        short = "" if round(ratio, 2) >= goal else " **short**"
        rows.append([f"`{name}`: {job.description}", ours.split(":")[1],
                     milliseconds(job.contestants[ours].median), NAMES[peer],
                     milliseconds(job.contestants[peer].median), f"{ratio:.2f}", f"{goal}{short}"])
    return table(["job", "threads", "Lookback, ms", "peer", "peer, ms", "ratio", "to reach"], rows)


def floors_table(jobs):
    rows = []
    for name, job in jobs.items():
        copy, ours = job.contestants.get("copy:2"), job.contestants.get("lookback:2")
        trips = ROUND_TRIPS.get(name.split("/")[0])
        if not (copy and ours and trips):
            continue
        copied = 2 * job.bytes * COPIED.get(name, 1)
        traffic = copied * trips
        bandwidth = copied / copy.median * 1e-6
        floor = traffic / bandwidth * 1e-6
        rows.append([f"`{name}`", f"{traffic * 1e-9:.2f}", f"{bandwidth:.1f}", milliseconds(floor),
                     milliseconds(ours.median), f"{ours.median / floor:.2f}"])
    return table(["job", "GB moved at least", "GB/s of memcpy, 2 threads", "floor, ms",
                  "Lookback, 2 threads, ms", "times the floor"], rows)


def medians_table(jobs):
    rows = []
    for name, job in jobs.items():
        for contestant, times in sorted(job.contestants.items(), key=lambda item: item[1].median):
            rows.append([f"`{name}`", NAMES[contestant], milliseconds(times.median),
                         f"{milliseconds(times.low)} - {milliseconds(times.high)}",
                         str(times.rounds)])
    return table(["job", "contestant", "median, ms", "middle half, ms", "rounds"], rows)


def chart(jobs):
    """Speed against the fastest peer, one bar a goal, a tick where the goal is."""
    rows = [row for row in outcomes(jobs) if row[3] != "std-sort"]
    rows.sort(key=lambda row: list(jobs).index(row[0]))
    most = 6
    return bars(f"times as fast as the peer; black tick: to reach; bars end at {most}",
                [(f'{name}, {ours.split(":")[1]}T / {NAMES[peer].replace(", 2 threads", "")}', ratio, goal)
                 for name, _, ours, peer, ratio, goal in rows], most)


def figures(contexts, jobs, picture):
    context = contexts[0]
    dates = sorted({each["date"][:10] for each in contexts})
    commits = collections.defaultdict(list)
    for name, job in jobs.items():
        commits[job.commit].append(name)
    measured_at = f"commit `{context['commit']}`" if len(commits) == 1 else "; ".join(
        f"commit `{commit}` ({', '.join(names)})" for commit, names in commits.items())
    memory = round(int(context["memory"].split()[0]) / 2**20)
    caches = ", ".join(f"L{cache['level']} {cache['size'] // 1024:,} KiB"
                       for cache in context["caches"] if cache["type"] != "Instruction")
    peers = (f"{context['python']}, vqsort of Highway {context['highway']} with "
             f"{context['vqsort']}, oneTBB "
             f"{context['oneTBB']}; files in {context['folder']}")
    missed = [f"`{name}` ({ours.split(':')[1]} thread(s) against {NAMES[peer]}: {ratio:.2f} of {goal})"
              for name, _, ours, peer, ratio, goal in outcomes(jobs) if round(ratio, 2) < goal]
    fell_short = ("These fall short of what they should reach: " + "; ".join(missed) + "."
                  if missed else "All reach what they should.")
    # Two threads that copy no faster than one had one core: the other was busy with something else.
    held = [f"`{name}`" for name, job in jobs.items() if {"copy:1", "copy:2"} <= set(job.contestants)
            and job.contestants["copy:2"].median > 0.8 * job.contestants["copy:1"].median]
    if held:
        fell_short += (f" Two threads copied no faster than one during {', '.join(held)}, so one of the "
                       "two cores was taken and the figures of two threads there say little.")
    return "\n\n".join([
        f"Measured on {' and '.join(dates)}, {measured_at}, {context['compiler']}, "
        f"on {context['cores']} cores of {context['cpu']} ({caches}), {memory} GiB of memory. "
        f"Peers: {peers}.", fell_short, f"![Speed against the peers]({picture})", "### Against the peers",
        goals_table(jobs), "### Against the memory", floors_table(jobs), "### All medians",
        medians_table(jobs)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("runs", nargs="+", help="JSON files of lookback-bench")
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--document", type=pathlib.Path, default=root / "docs/performance.md")
    arguments = parser.parse_args()
    contexts, jobs = load(arguments.runs)
    if contexts[0]["quick"] == "yes" and arguments.document == parser.get_default("document"):
        sys.exit("a quick run measures nothing; it may only fill another --document")
    picture = arguments.document.with_suffix(".svg")
    picture.write_text(chart(jobs))
    text = arguments.document.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    arguments.document.write_text(
        f"{before}{BEGIN}\n\n{figures(contexts, jobs, picture.name)}\n\n{END}{after}")


if __name__ == "__main__":
    main()
