"""h5py's own LZF against the one in lib/io: each reads what the other wrote."""
import os
import subprocess

import h5py
import numpy
import pytest

H5SORT = os.path.join(os.environ["LOOKBACK_BUILD_DIR"], "apps", "h5sort")


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("values", ["steps", "noise", "equal"])
def test_lzf_both_ways(tmp_path, values, shuffle):
    generator = numpy.random.default_rng(3)
    data = {
        "steps": (numpy.arange(50_000) * 7919) % 1000,
        "noise": generator.integers(0, 2**63, 50_000),
        "equal": numpy.full(50_000, 5),
    }[values].astype("i8")
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("x", data=data, chunks=(4096,), compression="lzf", shuffle=shuffle)
    # No plugin: lib/io reads and writes LZF itself.
    environment = dict(os.environ, HDF5_PLUGIN_PATH=str(tmp_path))
    subprocess.run([H5SORT, tmp_path / "in.h5", "-o", tmp_path / "out.h5"], check=True,
                   env=environment)
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["x"].compression == "lzf"
        assert file["x"].shuffle == shuffle
        assert file["x"].chunks == (4096,)
        numpy.testing.assert_array_equal(file["x"][:], numpy.sort(data))
