"""Every header compiles alone: .hpp with g++, .h as C too, .cuh with nvcc where it is there.

A header with which a built source begins was compiled so when that was built. Any other is compiled
with the options of the built source that is nearest to it in the tree. What passed is remembered in
the build folder by the digest of the header and of all that it includes.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import pytest
from source_tree import ROOT, closure, includes, sources

BUILD = pathlib.Path(os.environ.get("LOOKBACK_BUILD_DIR", ROOT / "build/release"))
KEPT = re.compile(r"-(?:I|isystem|D|std=|-generate-code|-options-file|-expt)")
HEADERS = [name for name in sources(ROOT, "kernels", "lib", "apps", "tests/support")
           if name.endswith((".hpp", ".h", ".cuh"))]


def options_of(command):
    """The words of a compile command that decide what an #include finds and which language it is."""
    words, kept = shlex.split(command), []
    for index, word in enumerate(words):
        if word in ("-isystem", "-I", "-D", "-include"):
            kept += [word, words[index + 1]]
        elif KEPT.match(word):
            kept.append(word)
    return words[0], kept


def first_header(source):
    """The header of the tree that a source includes before anything else stands in it; else None."""
    name = os.path.relpath(source, ROOT)
    if name.startswith("..") or not os.path.isfile(source):
        return None
    lines = (line.strip() for line in pathlib.Path(source).read_text().splitlines())
    begin = next((line for line in lines if line and not line.startswith("//")), "")
    return next(includes(ROOT, name))[2] if begin.startswith("#include") else None


def nearest(commands, header, cuda):
    """The command of the source that shares the longest path with the header."""
    def shared(command):
        source = os.path.relpath(command["file"], ROOT)
        return len(os.path.commonprefix([source.split("/"), header.split("/")]))

    def wealth(command):  # among equals the one that finds most
        return shared(command), len(options_of(command["command"])[1])

    # What is compiled for the emulated device gets names from nowhere.
    fitting = [c for c in commands
               if c["file"].endswith(".cu") == cuda and "emulated/cuda.hpp" not in c["command"]]
    if header.startswith("tests/support/"):  # what they include is found where they are used
        fitting = [c for c in fitting if header in closure(ROOT, os.path.relpath(c["file"], ROOT))] or fitting
    best = max(fitting, key=wealth, default=None)
    if best is not None and header.startswith(("lib/io/", "apps/")) and shared(best) < 2:
        return None  # a build without the apps
    if best is not None and header.startswith("lib/src/cuda/") and shared(best) < 3:
        return None  # a build without CUDA
    return best


def compile_alone(root, header, compiler, options, language):
    """Empty where it compiles; else what the compiler said."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / f"alone.{language}"
        source.write_text(f'#include "{root / header}"\n')
        if language == "cu":
            # To PTX: the front end once, and no assembler; 1.4 s where an object takes 3.7.
            targets = [re.sub(r"^-+generate-code=arch=(\w+),.*", r"-arch=\1", option) for option in options]
            command = [compiler, "--ptx", "-o", os.devnull, *targets, source]
        else:
            command = [compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *options, source]
        run = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             check=False)
    return "" if run.returncode == 0 else run.stdout + f"\n(exit status {run.returncode})"


def check(root, header, compiler, options, language, cache):
    digest = hashlib.sha256(repr((compiler, options, language)).encode())
    for name in closure(root, header):
        digest.update((root / name).read_bytes())
    stamp = cache / digest.hexdigest()
    if stamp.exists():
        return ""
    said = compile_alone(root, header, compiler, options, language)
    if not said:
        stamp.touch()
    return said


@pytest.fixture(scope="module")
def results():
    """header -> what the compiler said (empty: it compiles); None where its kind is not built."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    for command in commands:  # relative to ROOT, whatever folder the build calls it by
        command["file"] = os.path.realpath(command["file"])
    built_first = {first_header(command["file"]) for command in commands}
    cache = BUILD / "headers_alone"
    cache.mkdir(exist_ok=True)
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for header in HEADERS:
            cuda = header.endswith(".cuh")
            if header in built_first and header.endswith(".hpp"):
                jobs[header] = [pool.submit(str)]  # nothing to say against it
                continue
            command = nearest(commands, header, cuda)
            if command is None:
                jobs[header] = []
                continue
            compiler, options = options_of(command["command"])
            if "ccache" in os.path.basename(compiler):
                compiler, options = options_of(command["command"].split(None, 1)[1])
            if header.startswith("tests/support/"):  # whose users may not be built: kernels' tests without a GPU
                options = [*options, f"-I{ROOT / 'tests'}"]
            languages = [(compiler, options, "cu" if cuda else "cpp")]
            if header.endswith(".h"):
                c_options = [o for o in options if not o.startswith("-std=")]
                languages.append(("cc", [*c_options, "-std=c11"], "c"))
            jobs[header] = [pool.submit(check, ROOT, header, *language, cache) for language in languages]
    return {header: "".join(job.result() for job in parts) if parts else None
            for header, parts in jobs.items()}


@pytest.mark.parametrize("header", HEADERS)
def test_compiles_alone(results, header):
    if results[header] is None:
        pytest.skip("nothing of its kind is built here (no nvcc, or no apps)")
    assert results[header] == ""


def test_a_header_that_needs_another_is_found(tmp_path):
    (tmp_path / "needs.hpp").write_text("#pragma once\ninline std::uint64_t f() { return 1; }\n")
    (tmp_path / "alone.hpp").write_text("#pragma once\n#include <cstdint>\ninline std::uint64_t f() { return 1; }\n")
    assert "uint64_t" in compile_alone(tmp_path, "needs.hpp", "c++", ["-std=c++20"], "cpp")
    assert compile_alone(tmp_path, "alone.hpp", "c++", ["-std=c++20"], "cpp") == ""
    (tmp_path / "api.h").write_text("#include <string>\n")
    assert compile_alone(tmp_path, "api.h", "cc", ["-std=c11"], "c") != ""


def test_a_change_in_an_included_header_is_seen(tmp_path):
    (tmp_path / "a.hpp").write_text('#pragma once\n#include "b.hpp"\n')
    (tmp_path / "b.hpp").write_text("#pragma once\nint f();\n")
    cache = tmp_path / "cache"
    cache.mkdir()
    arguments = (tmp_path, "a.hpp", "c++", ["-std=c++20"], "cpp", cache)
    assert check(*arguments) == ""
    (tmp_path / "b.hpp").write_text("#pragma once\nint f(\n")
    assert check(*arguments) != ""


def test_the_header_that_a_source_begins_with_is_known():
    assert first_header(ROOT / "apps/common/options.cpp") == "apps/common/options.hpp"
    assert first_header(ROOT / "tests/layout/headers_test.py") is None
    assert first_header("/dev/null") is None
