"""Runs clang-tidy over the sources of lib and apps, several at once.

usage: tidy.py [--build DIR] [-j N] [SOURCE...]      default: every .cpp of lib/ and apps/ that is built
In a unity build (preset tidy, the default) it reads many sources at once, each header once: a fifth of the time.
A translation unit is run again only if a source of it, a header of the project, or the checks have changed since
it last passed: the digests of what passed are kept in DIR/tidy/. Exit status 1 where there are findings, 77 where
there is no clang-tidy of version 16 or newer.
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


def parts_of(unit):
    """The project's sources in a translation unit: itself, or what a unity file includes."""
    included = re.findall(r'^#include "(/.*[.]cpp)"$', unit.read_text(), re.MULTILINE)
    return [pathlib.Path(source) for source in included] or [unit]


def units_of(build):
    """Each translation unit of lib/ and apps/: its path, its parts, its command."""
    for command in json.loads((build / "compile_commands.json").read_text()):
        unit = pathlib.Path(command["file"])
        if unit.suffix not in (".cpp", ".cxx"):
            continue
        parts = parts_of(unit)
        if all(part.is_relative_to(ROOT) and part.relative_to(ROOT).parts[0] in ("lib", "apps") for part in parts):
            yield unit, parts, command["command"]


def one_target(parts):
    """For sources that Highway compiles once a target: the target with the most code, alone."""
    if any("hwy/foreach_target.h" in part.read_text() for part in parts):
        return ["--extra-arg=-DHWY_COMPILE_ONLY_STATIC", "--extra-arg=-march=skylake-avx512"]
    return []


def check(tool, build, unit, parts, stamp):
    """None where the unit is clean (or was, unchanged); else what clang-tidy said."""
    if stamp.exists():
        return None
    run = subprocess.run([tool, "-p", str(build), "--quiet",
                          "--extra-arg=-Wno-unknown-warning-option", *one_target(parts), str(unit)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode == 0:
        stamp.touch()
        return None
    return run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/tidy")
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
    sources = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for unit, parts, command in units_of(build):
            if wanted and not wanted.intersection(parts):
                continue
            text = b"".join(part.read_bytes() for part in parts)
            digest = hashlib.sha256((common + command).encode() + text).hexdigest()
            jobs.append(pool.submit(check, tool, build, unit, parts, cache / digest))
            sources += len(parts)
    findings = [said for said in (job.result() for job in jobs) if said is not None]
    print(*findings, sep="\n")
    print(f"clang-tidy: {sources} sources in {len(jobs)} units, {len(findings)} of these with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
