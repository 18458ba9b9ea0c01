"""What the layout checks share: the files of the tree, and which file an #include means."""

import os
import pathlib
import re

ROOT = pathlib.Path(os.environ.get("LOOKBACK_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SUFFIXES = {".hpp", ".h", ".cuh", ".cpp", ".cu", ".c"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Where a quoted include of a file in the folder on the left is looked for, beside its own folder.
SEARCH = {"lib/src": ["lib/src"], "lib/io": ["lib"], "apps": ["apps", "lib", "tests"], "tests": ["tests", "lib/src", "lib", "apps"]}


def sources(root, *folders):
    """Paths, relative to root, of all C, C++ and CUDA files in the folders."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path.relative_to(root).as_posix()


def includes(root, source):
    """(line number, name, path in the tree or None where it is none of ours) of each #include."""
    text = (root / source).read_text()
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        yield line, match[2], resolve(root, source, match[1] == '"', match[2])


def resolve(root, source, quoted, name):
    """The path, relative to root, of what `source` includes as `name`; None if it is not ours."""
    candidates = []
    if quoted:
        candidates.append(pathlib.PurePosixPath(source).parent / name)
        for folder, places in SEARCH.items():
            if source.startswith(folder + "/"):
                candidates += [pathlib.PurePosixPath(place) / name for place in places]
    if name.startswith("lookback/kernels/"):
        candidates.append(pathlib.PurePosixPath(name[len("lookback/"):]))
    elif name.startswith("lookback/"):
        candidates.append(pathlib.PurePosixPath("lib/include") / name)
    for candidate in candidates:
        path = os.path.normpath(root / candidate)
        if os.path.isfile(path):
            return pathlib.Path(path).relative_to(root).as_posix()
    return None


def closure(root, source):
    """The file and all files of the tree that it includes, directly or not."""
    seen, waiting = set(), [source]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting += [path for _, _, path in includes(root, current) if path is not None]
    return sorted(seen)
