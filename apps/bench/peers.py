"""The Python peers of lookback-bench: numpy on request, and h5py + np.sort as a whole process.

worker FD BYTES       answers "sort DTYPE N", "argsort DTYPE N" and "filter DTYPE N LIMIT" (items below it) over
                      shared memory with seconds
versions              what takes part
settings              NAME=VALUE to add to the environment for numpy's best speed; an empty line if none
h5sort IN OUT         what a user writes without h5sort: read, sort, write with the same layout
"""

import mmap
import os
import subprocess
import sys
import time

# Sorts with AVX2 in place of AVX-512, which some processors run several times slower: their stores
# of chosen lanes are microcode.
AVX2_ALONE = {"NPY_DISABLE_CPU_FEATURES": "X86_V4"}
PROBE = """
import numpy, time
keys = numpy.random.default_rng(1).integers(0, 2**32, 2**22, dtype="uint32")
start = time.perf_counter()
keys.sort()
print(time.perf_counter() - start)
"""


def fastest_settings():
    """What to add to the environment so that numpy sorts as fast as it can on this processor."""
    def seconds(settings):
        probe = subprocess.run([sys.executable, "-c", PROBE], env=os.environ | settings,
                               capture_output=True, text=True, check=False)
        return float(probe.stdout) if probe.returncode == 0 else float("inf")
    return AVX2_ALONE if 1.2 * seconds(AVX2_ALONE) < seconds({}) else {}


def worker(descriptor, size):
    """Data come and go through the shared memory; numpy works on an array of its own, which it
    backs with huge pages as the C++ contestants' buffers are. Only the call itself is timed."""
    import numpy

    if int(numpy.__version__.split(".")[0]) < 2:
        print(f"this Python has numpy {numpy.__version__}; 2 is needed")
        return
    print(f"numpy {numpy.__version__}", flush=True)
    memory = mmap.mmap(descriptor, size)
    work = None
    for line in sys.stdin:
        command, dtype, count, *more = line.split()
        shared = numpy.frombuffer(memory, dtype, int(count))
        if work is None or work.dtype != shared.dtype or work.size != shared.size:
            work = numpy.empty(shared.shape, shared.dtype)
        work[:] = shared
        start = time.perf_counter()
        if command == "sort":
            work.sort()
            seconds = time.perf_counter() - start
            shared[:] = work
        elif command == "filter":
            limit = work.dtype.type(int(more[0]))
            start = time.perf_counter()
            kept = work[work < limit]
            seconds = time.perf_counter() - start
            shared[: kept.size] = kept
            del kept
        else:
            index = numpy.argsort(work, kind="stable")
            seconds = time.perf_counter() - start
            numpy.frombuffer(memory, index.dtype, int(count))[:] = index
            del index
        print(seconds, flush=True)


def sort_file(source, target):
    import h5py

    with h5py.File(source) as file:
        dataset = file["keys"]
        layout = {name: getattr(dataset, name) for name in ("chunks", "compression", "shuffle")}
        if dataset.chunks is None:
            layout = {}
        else:
            layout["compression_opts"] = dataset.compression_opts
        keys = dataset[...]
    keys.sort()
    with h5py.File(target, "w") as file:
        file.create_dataset("keys", data=keys, **layout)


def versions():
    import h5py
    import numpy

    simd = " with AVX2" if AVX2_ALONE.items() <= os.environ.items() else ""
    return (f"numpy {numpy.__version__}{simd}, "
            f"h5py {h5py.__version__} with HDF5 {h5py.version.hdf5_version}")


if sys.argv[1] == "worker":
    worker(int(sys.argv[2]), int(sys.argv[3]))
elif sys.argv[1] == "versions":
    print(versions())
elif sys.argv[1] == "settings":
    print(*(f"{name}={value}" for name, value in fastest_settings().items()))
else:
    sort_file(sys.argv[2], sys.argv[3])
