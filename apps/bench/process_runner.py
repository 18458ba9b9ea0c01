"""Runs programs to be measured against each other, each as a process of its own. For select_peers.py and sort_peers.py."""

import collections
import os
import pathlib
import subprocess
import sys
import time

Usage = collections.namedtuple("Usage", "wall cpu mib")


def helper(script, *words):
    """One of a script's own steps, in a process of its own: what the caller held would count as its children's memory.
    Returns what it printed."""
    return subprocess.run([sys.executable, script, *map(str, words)], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def measured(words, target, cores=""):
    """Wall and processor seconds and the most MiB of one process, which writes `target` anew; `cores` as taskset takes
    them. A process that fails ends the run."""
    pathlib.Path(target).unlink(missing_ok=True)
    words = (["taskset", "-c", cores] if cores else []) + [str(word) for word in words]
    start = time.perf_counter()
    process = subprocess.Popen(words)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{' '.join(words)}: ended with {status}")
    return Usage(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
