"""What the tests of the apps share: runs of an app, references by numpy, files as h5py makes them."""

import os
import pathlib
import re
import subprocess

import h5py
import numpy as np

SOURCE = pathlib.Path(os.environ.get("LOOKBACK_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("LOOKBACK_BUILD_DIR", SOURCE / "build/cpu"))
CACHE = BUILD / "CMakeCache.txt"
SANITIZED = CACHE.exists() and re.search(r"^LOOKBACK_SANITIZE:STRING=.+$", CACHE.read_text(), re.M) is not None
SECONDS = 120  # far more than any test needs, also under sanitizers


def program(name):
    return str(BUILD / "apps" / name)


def run(name, *words, **more):
    """Runs an app; returns the finished process with text output."""
    more.setdefault("timeout", SECONDS)
    return subprocess.run([program(name), *map(str, words)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, errors="surrogateescape", **more)


def ok(name, *words, **more):
    """Runs an app that must succeed without a word on stderr; returns its stdout."""
    process = run(name, *words, **more)
    assert (process.returncode, process.stderr) == (0, ""), process
    return process.stdout


def refused(name, *words, **more):
    """Runs an app that must fail with one line; returns what stands behind "NAME: error: "."""
    process = run(name, *words, **more)
    assert process.returncode == 2, process
    assert process.stdout == "", process
    lines = process.stderr.splitlines()
    assert len(lines) == 1 and process.stderr.endswith("\n"), process.stderr
    start = f"{name}: error: "
    assert lines[0].startswith(start), lines
    assert "it crashed" not in lines[0], lines
    return lines[0][len(start):]


def make(path, **datasets):
    """Writes datasets named by keyword ('a__b' is a/b): arrays, or (array, create_dataset options)."""
    with h5py.File(path, "a") as file:
        for name, value in datasets.items():
            data, options = value if isinstance(value, tuple) else (value, {})
            file.create_dataset(name.replace("__", "/"), data=data, **options)
    return path


def load(path, name):
    with h5py.File(path, "r") as file:
        return file[name][()]


def order_of(keys, descending=False, nan_first=False):
    """numpy's stable order of one key under the project's rules: an index."""
    keys = np.asarray(keys)
    if keys.dtype.kind == "f":
        nan = np.isnan(keys)
        plain = np.where(nan, np.zeros((), keys.dtype), keys) + np.zeros((), keys.dtype)  # -0 -> +0
        ranks = np.unique(plain, return_inverse=True)[1].astype(np.int64)
    else:
        nan = np.zeros(keys.shape, bool)
        ranks = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    if descending:
        ranks = -ranks
    place_of_nan = np.where(nan, -1 if nan_first else 1, 0)
    return np.lexsort((np.where(nan, 0, ranks), place_of_nan))


def order_by(*keys):
    """The stable order by several keys: arrays, or (array, dict(descending=, nan_first=))."""
    index = np.arange(len(keys[0][0] if isinstance(keys[0], tuple) else keys[0]))
    for key in reversed(keys):
        data, how = key if isinstance(key, tuple) else (key, {})
        index = index[order_of(np.asarray(data)[index], **how)]
    return index


def same_bytes(got, expected):
    """Equal in type, shape and every bit (NaN payloads and zero signs too)."""
    got, expected = np.ascontiguousarray(got), np.ascontiguousarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


def storage(dataset):
    """What must be kept beside the values."""
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(i)[:3] for i in range(plist.get_nfilters())]
    return {"type": dataset.dtype, "chunks": dataset.chunks, "filters": filters,
            "maxshape": dataset.maxshape,
            # h5py 3.7 crashes when it is asked for the fill value of variable-length data
            "fill": None if dataset.dtype.hasobject else dataset.fillvalue,
            "attributes": {name: repr(dataset.attrs.get(name)) for name in dataset.attrs}}
