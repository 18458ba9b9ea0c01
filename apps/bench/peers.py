"""The Python peers of lookback-bench: numpy on request, and h5py + np.sort as a whole process.

worker FD BYTES       answers "sort DTYPE N" and "argsort DTYPE N" over shared memory with seconds
versions              what takes part
h5sort IN OUT         what a user writes without h5sort: read, sort, write with the same layout
"""

import mmap
import sys
import time

import numpy


def worker(descriptor, size):
    """Data come and go through the shared memory; numpy works on an array of its own, which it
    backs with huge pages as the C++ contestants' buffers are. Only the call itself is timed."""
    if int(numpy.__version__.split(".")[0]) < 2:
        print(f"this Python has numpy {numpy.__version__}; 2 is needed")
        return
    print(f"numpy {numpy.__version__}", flush=True)
    memory = mmap.mmap(descriptor, size)
    work = None
    for line in sys.stdin:
        command, dtype, count = line.split()
        shared = numpy.frombuffer(memory, dtype, int(count))
        if work is None or work.dtype != shared.dtype or work.size != shared.size:
            work = numpy.empty(shared.shape, shared.dtype)
        work[:] = shared
        start = time.perf_counter()
        if command == "sort":
            work.sort()
            seconds = time.perf_counter() - start
            shared[:] = work
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

    return f"numpy {numpy.__version__}, h5py {h5py.__version__} with HDF5 {h5py.version.hdf5_version}"


if sys.argv[1] == "worker":
    worker(int(sys.argv[2]), int(sys.argv[3]))
elif sys.argv[1] == "versions":
    print(versions())
else:
    sort_file(sys.argv[2], sys.argv[3])
