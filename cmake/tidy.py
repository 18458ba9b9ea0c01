"""Runs clang-tidy over the sources of lib and apps, several at once.

usage: tidy.py [--build DIR] [-j N] [SOURCE...]      default: every .cpp of lib/ and apps/ that is built
A source is run again only if it, a header of the project, or the checks have changed since it last
passed: the digests of what passed are kept in DIR/tidy/. Exit status 1 where there are findings, 77 where there is no clang-tidy of version 16 or newer.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def find_tool():
    """A clang-tidy that knows std::source_location (16 and newer), the oldest first."""
    for name in (*(f"clang-tidy-{version}" for version in range(16, 23)), "clang-tidy"):
        tool = shutil.which(name)
        if tool:
            said = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
            if int(re.search(r"version (\d+)", said)[1]) >= 16:
                return tool
    return None


def digest_of_headers():
    """One digest of the checks and of all headers: a change in any runs everything again."""
    state = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + pathlib.Path(__file__).read_bytes())
    for folder in ("kernels", "lib", "apps"):
        for header in sorted((ROOT / folder).rglob("*.hpp")) + sorted((ROOT / folder).rglob("*.h")):
            state.update(header.read_bytes())
    return state.hexdigest()


def sources_of(build):
    commands = json.loads((build / "compile_commands.json").read_text())
    for command in commands:
        source = pathlib.Path(command["file"])
        if source.suffix == ".cpp" and source.is_relative_to(ROOT):
            if source.relative_to(ROOT).parts[0] in ("lib", "apps"):
                yield source, command["command"]


def check(tool, build, source, stamp):
    """None where the source is clean (or was, unchanged); else what clang-tidy said."""
    if stamp.exists():
        return source, 0.0, None
    start = time.monotonic()
    run = subprocess.run([tool, "-p", str(build), "--quiet",
                          "--extra-arg=-Wno-unknown-warning-option", str(source)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    took = time.monotonic() - start
    if run.returncode == 0:
        stamp.touch()
        return source, took, None
    return source, took, run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("sources", nargs="*")
    arguments = parser.parse_args()

    build = pathlib.Path(arguments.build).resolve()
    tool = find_tool()
    if tool is None:
        print("skipped: no clang-tidy of version 16 or newer here")
        return 77
    cache = build / "tidy"
    cache.mkdir(exist_ok=True)
    common = digest_of_headers()
    wanted = {pathlib.Path(source).resolve() for source in arguments.sources}

    jobs = []
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for source, command in sources_of(build):
            if wanted and source not in wanted:
                continue
            digest = hashlib.sha256(
                (common + command).encode() + source.read_bytes()).hexdigest()
            jobs.append(pool.submit(check, tool, build, source, cache / digest))
    findings = 0
    for job in jobs:
        source, took, said = job.result()
        if said is not None:
            findings += 1
            print(said)
    print(f"clang-tidy: {len(jobs)} sources, {findings} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
