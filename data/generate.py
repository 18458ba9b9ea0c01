"""Makes synthetic HDF5 files, the same bytes for the same seed, for tests and benchmarks.

usage: generate.py KIND [--rows N] [--type u4] [--seed S] [--layout contiguous|chunked|gzip] -o FILE
One dataset /values of KIND
  uniform   every bit pattern of integers alike; floats in [0, 1)
  narrow    20 live bits       zipf      Zipf, exponent 1.2: few values very often
  sorted    ascending          reversed  descending        nearly    sorted, 1 % swapped
  equal     all the same       two       two values        skewed    floats over all exponents
  special   floats: both zeros, NaNs of several payloads, infinities, denormals among others
or a group
  table     /table: time u8, sensor i2 (16 of them), energy f4 (1 % NaN), label S8, hit f4[3]
  ragged    /events: offsets i8 of rows + 1 (lengths geometric, mean 5, many empty), values f4
"""

import argparse

import h5py
import numpy

CHUNK_BYTES = 1 << 20


def _uniform(rng, rows, dtype):
    if dtype.kind == "f":
        return rng.random(rows).astype(dtype)
    limits = numpy.iinfo(dtype)
    return rng.integers(limits.min, limits.max, rows, dtype=dtype, endpoint=True)


def _narrow(rng, rows, dtype):
    return rng.integers(0, min(1 << 20, 1 << (8 * dtype.itemsize - 1)), rows).astype(dtype)


def _zipf(rng, rows, dtype):
    return (rng.zipf(1.2, rows) % (1 << (8 * min(dtype.itemsize, 4) - 1))).astype(dtype)


def _nearly(rng, rows, dtype):
    values = numpy.sort(_uniform(rng, rows, dtype))
    moved = rng.integers(0, max(rows, 1), (rows // 200, 2))
    for one, other in moved:
        values[one], values[other] = values[other], values[one]
    return values


def _two(rng, rows, dtype):
    return numpy.array([3, 77], dtype)[rng.integers(0, 2, rows)]


def _skewed(rng, rows, dtype):
    exponents = numpy.finfo(dtype)
    powers = rng.integers(exponents.minexp, exponents.maxexp, rows)
    return numpy.ldexp((rng.random(rows) - 0.5).astype(dtype), powers).astype(dtype)


def _special(rng, rows, dtype):
    bits = numpy.dtype(f"u{dtype.itemsize}")
    values = rng.normal(size=rows).astype(dtype)
    odd = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan, 0, 0], dtype)
    odd[6] = numpy.finfo(dtype).smallest_subnormal
    odd.view(bits)[7] = odd.view(bits)[4] + 5  # a NaN of another payload
    where = rng.random(rows) < 0.3
    values[where] = odd[rng.integers(0, len(odd), int(where.sum()))]
    return values


KINDS = {
    "uniform": _uniform,
    "narrow": _narrow,
    "zipf": _zipf,
    "sorted": lambda rng, rows, dtype: numpy.sort(_uniform(rng, rows, dtype)),
    "reversed": lambda rng, rows, dtype: numpy.sort(_uniform(rng, rows, dtype))[::-1].copy(),
    "nearly": _nearly,
    "equal": lambda rng, rows, dtype: numpy.full(rows, 42, dtype),
    "two": _two,
    "skewed": _skewed,
    "special": _special,
}


def values(kind, rows, dtype="u4", seed=1):
    """The values of `kind` as a numpy array: the same for the same arguments."""
    dtype = numpy.dtype(dtype)
    if kind in ("skewed", "special") and dtype.kind != "f":
        raise ValueError(f"{kind}: needs a floating-point type, not {dtype}")
    return KINDS[kind](numpy.random.default_rng(seed), rows, dtype)


def table(rows, seed=1):
    """Columns by name, as numpy arrays with the same first dimension."""
    rng = numpy.random.default_rng(seed)
    energy = rng.exponential(3.0, rows).astype("f4")
    energy[rng.random(rows) < 0.01] = numpy.nan
    return {
        "time": rng.integers(0, max(rows // 4, 1), rows, dtype="u8"),
        "sensor": rng.integers(0, 16, rows, dtype="i2"),
        "energy": energy,
        "label": rng.integers(0, 5000, rows).astype("S8"),
        "hit": rng.normal(size=(rows, 3)).astype("f4"),
    }


def ragged(rows, seed=1):
    """Offsets (rows + 1) and values of `rows` segments, about a sixth of them empty."""
    rng = numpy.random.default_rng(seed)
    lengths = rng.geometric(1 / 6, rows) - 1
    offsets = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype("i8")
    return {"offsets": offsets, "values": rng.normal(size=int(offsets[-1])).astype("f4")}


def write(parent, name, array, layout):
    """Writes one dataset in one of the three layouts."""
    options = {}
    if layout != "contiguous" and len(array) > 0:
        row_bytes = array.dtype.itemsize * int(numpy.prod(array.shape[1:]))
        chunk = min(len(array), max(1, CHUNK_BYTES // row_bytes))
        options["chunks"] = (chunk,) + array.shape[1:]
        options["maxshape"] = (None,) + array.shape[1:]
        if layout == "gzip":
            options.update(compression="gzip", compression_opts=4, shuffle=True)
    parent.create_dataset(name, data=array, **options)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("kind", choices=[*KINDS, "table", "ragged"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--type", default="u4")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layout", choices=["contiguous", "chunked", "gzip"], default="contiguous")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    if arguments.kind == "table":
        path, columns = "table/", table(arguments.rows, arguments.seed)
    elif arguments.kind == "ragged":
        path, columns = "events/", ragged(arguments.rows, arguments.seed)
    else:
        array = values(arguments.kind, arguments.rows, arguments.type, arguments.seed)
        path, columns = "", {"values": array}
    with h5py.File(arguments.output, "w") as file:
        for name, array in columns.items():
            write(file, path + name, array, arguments.layout)


if __name__ == "__main__":
    main()
