"""Arrows point one way: what each folder may include, of ours and of other libraries.

apps -> lib/include, lib/io;  lib/src/cuda -> kernels/device -> tile -> block -> warp -> arch -> core;
lib/src/cpu, apps/common -> kernels/core;  kernels never include lib;  only lib/io (and the benchmark, which
measures it) includes hdf5.h;  inline assembly only in kernels/arch.
"""

import re

import pytest
from source_tree import ROOT, includes, sources

KERNELS = ["core", "arch", "warp", "block", "tile", "device"]

# Folder or file: what it may include. The longest name that fits a file is its rule.
ALLOWED = {f"kernels/{level}": [f"kernels/{lower}" for lower in KERNELS[: KERNELS.index(level) + 1]]
           for level in KERNELS}
ALLOWED["kernels/device"].append("kernels/tuning")
ALLOWED.update({
    "kernels/tuning": ["kernels/tuning", "kernels/core"],
    "lib/include": ["lib/include"],
    "lib/include/lookback/row_stream.hpp": ["lib/include", "kernels/core"],  # the steps of conditions
    "lib/src/item_list.hpp": [],
    "lib/src/api": ["lib/include", "lib/src/api", "lib/src/memory", "lib/src/cpu", "lib/src/item_list.hpp",
                    "lib/src/cuda/backend.hpp", "kernels/core"],
    "lib/src/memory": ["lib/include", "lib/src/memory"],
    "lib/src/cpu": ["lib/include", "lib/src/cpu", "lib/src/memory", "lib/src/item_list.hpp", "kernels/core"],
    "lib/src/cuda": ["lib/include", "lib/src/cuda", "lib/src/memory", "kernels"],
    "lib/src/cuda_absent.cpp": ["lib/include", "lib/src/cuda/backend.hpp", "lib/src/item_list.hpp"],
    "lib/src/c": ["lib/include", "lib/src/c"],
    "lib/io": ["lib/include", "lib/io"],
    "apps/common": ["lib/include", "lib/io", "apps/common", "kernels/core"],
    "apps/bench": ["lib/include", "lib/io", "apps/common", "apps/bench", "kernels", "tests/support"],
})

# Headers of other libraries: (pattern, the folders that may include them).
FOREIGN = [
    (r"hdf5(_hl)?\.h|H5\w*\.h", ["lib/io", "apps/bench"]),
    (r"libdeflate\.h|zlib\.h|lz4\w*\.h|zstd\w*\.h", ["lib/io", "apps/bench"]),
    (r"fmt/.*", ["lib/io", "apps"]),
    (r"boost/.*|nlohmann/.*", ["apps"]),
    (r"tbb/.*|oneapi/.*|hwy/.*", ["lib/src/cpu", "lib/io", "apps/bench"]),
    (r"cuda/.*|cuda\w*\.h|thrust/.*|cub/.*|cooperative_groups.*",
     ["kernels/arch", "kernels/warp", "kernels/block", "kernels/tile", "kernels/device", "lib/src/cuda",
      "apps/bench"]),
    (r"benchmark/.*", ["apps/bench"]),
    (r"gtest/.*|gmock/.*", []),
]
ASSEMBLY = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:volatile|__volatile__)?\s*\(")
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def is_inside(path, folders):
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def rule_of(source):
    fitting = [name for name in ALLOWED if is_inside(source, [name])]
    if fitting:
        return ALLOWED[max(fitting, key=len)]
    if source.startswith("apps/") and source.count("/") >= 2:  # an app
        return ["lib/include", "lib/io", "apps/common", "/".join(source.split("/")[:2])]
    return None


def faults(root):
    """Every arrow that points the wrong way, as FILE:LINE: what."""
    found = []
    for source in sources(root, "kernels", "lib", "apps"):
        allowed = rule_of(source)
        if allowed is None:
            found.append(f"{source}:1: no rule says what this folder may include")
            continue
        for line, name, path in includes(root, source):
            if path is not None and not is_inside(path, allowed):
                found.append(f"{source}:{line}: includes {path}; may include {', '.join(allowed)}")
            for pattern, folders in FOREIGN:
                if path is None and re.fullmatch(pattern, name) and not is_inside(source, folders):
                    found.append(f"{source}:{line}: includes {name}; only {folders} may")
            # Names without a folder may be made by the build.
            if path is None and name.endswith((".hpp", ".cuh")) and "/" in name:
                if not re.match(r"(boost|nlohmann|hwy|fmt|thrust|cub)/", name):
                    found.append(f"{source}:{line}: includes {name}, which is not in the tree")
        if not source.startswith("kernels/arch/"):
            text = COMMENT.sub("", (root / source).read_text())
            if ASSEMBLY.search(text):
                found.append(f"{source}: inline assembly; it belongs in kernels/arch")
    return found


def test_arrows_point_one_way():
    assert faults(ROOT) == []


def test_there_is_something_to_check():
    assert len(list(sources(ROOT, "kernels", "lib", "apps"))) > 20


TREE = {
    "kernels/core/word.hpp": "#include <cstdint>\n",
    "kernels/arch/lane.cuh": "#include <lookback/kernels/core/word.hpp>\n",
    "kernels/tile/window.cuh": "#include <lookback/kernels/arch/lane.cuh>\n",
    "lib/include/lookback/scan.hpp": "#include <span>\n",
    "lib/src/cpu/scan.hpp": "#include <lookback/kernels/core/word.hpp>\n",
    "lib/src/cuda/backend.hpp": "#include <lookback/scan.hpp>\n",
    "lib/io/file.hpp": "#include <lookback/scan.hpp>\n",
    "apps/common/options.hpp": '#include "io/file.hpp"\n',
    "apps/h5sort/main.cpp": '#include "common/options.hpp"\n#include <boost/program_options.hpp>\n',
    "apps/h5scan/plan.hpp": "#include <vector>\n",
    "tests/support/sizes.hpp": "#include <vector>\n",
}
WRONG = [
    ("kernels/core/a.hpp", "#include <lookback/kernels/arch/lane.cuh>", "kernels/arch"),
    ("kernels/core/a.hpp", "#include <lookback/scan.hpp>", "lib/include"),
    ("kernels/core/a.hpp", "#include <cuda/atomic>", "cuda/atomic"),
    ("kernels/arch/a.cuh", '#include "../tile/window.cuh"', "kernels/tile"),
    ("kernels/warp/a.cuh", "#include <lookback/kernels/tile/window.cuh>", "kernels/tile"),
    ("kernels/warp/a.cuh", 'int f() { asm volatile("nop;"); }', "assembly"),
    ("lib/include/lookback/a.hpp", "#include <lookback/kernels/core/word.hpp>", "kernels/core"),
    ("lib/src/cpu/a.cpp", "#include <lookback/kernels/arch/lane.cuh>", "kernels/arch"),
    ("lib/src/cpu/a.cpp", '#include "cuda/backend.hpp"', "lib/src/cuda"),
    ("lib/src/cuda/a.cu", '#include "cpu/scan.hpp"', "lib/src/cpu"),
    ("lib/src/cpu/a.cpp", "  #  include <hdf5.h>", "hdf5.h"),
    ("lib/io/a.cpp", '#include "../src/cpu/scan.hpp"', "lib/src/cpu"),
    ("apps/h5sort/a.cpp", "#include <hdf5.h>", "hdf5.h"),
    ("apps/h5sort/a.cpp", '#include "../../lib/src/cpu/scan.hpp"', "lib/src/cpu"),
    ("apps/h5sort/a.cpp", '#include "h5scan/plan.hpp"', "apps/h5scan"),
    ("apps/h5sort/a.cpp", "#include <lookback/kernels/core/word.hpp>", "kernels/core"),
    ("apps/h5sort/a.cpp", '#include "support/sizes.hpp"', "tests/support"),
    ("apps/common/a.cpp", "#include <lookback/gone.hpp>", "not in the tree"),
    ("lib/elsewhere/a.cpp", "#include <vector>", "no rule"),
]


def make(root, tree):
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_right_tree_has_no_faults(tmp_path):
    make(tmp_path, TREE)
    assert faults(tmp_path) == []


@pytest.mark.parametrize("name, text, fault", WRONG)
def test_a_wrong_arrow_is_found(tmp_path, name, text, fault):
    make(tmp_path, {**TREE, name: text + "\n"})
    found = faults(tmp_path)
    assert len(found) == 1 and found[0].startswith(name) and fault in found[0]
