"""An installed Lookback serves a project of its own, by find_package and by pkg-config."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(os.environ["LOOKBACK_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["LOOKBACK_BUILD_DIR"])
EXAMPLES = ROOT / "docs" / "examples"
EXPECTED = {"scan": "0 3 3 5 \n", "sort": "-1 0 2.5 40 \n1 0 2 3 \n",
            "order": "3 1 0 2 \nlookback_sort: keys is null\n"}


def output_of(*command, **options):
    run = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False, **options)
    assert run.returncode == 0, f"{shlex.join(run.args)}\n{run.stdout}"
    return run.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    place = tmp_path_factory.mktemp("prefix")
    output_of("cmake", "--install", BUILD, "--prefix", place)
    return place


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    build = tmp_path_factory.mktemp("examples")
    output_of("cmake", "-G", "Ninja", "-S", EXAMPLES, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    output_of("cmake", "--build", build)
    return build


def library_folder(prefix):
    return next(prefix.rglob("liblookback.*")).parent


def with_libraries(prefix):
    return {**os.environ, "LD_LIBRARY_PATH": str(library_folder(prefix))}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_find_package(prefix, examples, name):
    assert output_of(examples / name, env=with_libraries(prefix)) == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_pkg_config(prefix, tmp_path, name):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library_folder(prefix) / "pkgconfig")}
    flags = output_of("pkg-config", "--static", "--cflags", "--libs", "lookback", env=environment)
    source, = EXAMPLES.glob(f"{name}.c*")
    compiler = ["cc", "-std=c99"] if source.suffix == ".c" else ["c++", "-std=c++20"]
    output_of(*compiler, "-c", source, "-o", tmp_path / "object.o", *shlex.split(flags))
    output_of("c++", tmp_path / "object.o", "-o", tmp_path / name, *shlex.split(flags))
    assert output_of(tmp_path / name, env=with_libraries(prefix)) == EXPECTED[name]


def test_library_needs_neither_hdf5_nor_boost_nor_json(examples):
    for name in EXPECTED:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", examples / name))
        assert any(library.startswith("libtbb") for library in needed)
        assert not [library for library in needed if re.search("hdf5|boost|json|fmt|deflate", library)]


def test_all_public_headers_are_installed(prefix):
    for source, place in (("lib/include/lookback", "include/lookback"), ("kernels", "include/lookback/kernels")):
        ours = {path.relative_to(ROOT / source) for suffix in ("*.hpp", "*.h", "*.cuh")
                for path in (ROOT / source).rglob(suffix)}
        theirs = {path.relative_to(prefix / place) for path in (prefix / place).rglob("*") if path.is_file()}
        assert ours and ours <= theirs


def apps():
    if not (BUILD / "apps").is_dir():
        return []
    return re.findall(r"^foreach\(app (.*)\)$", (ROOT / "apps/CMakeLists.txt").read_text(), re.MULTILINE)[0].split()


@pytest.mark.parametrize("app", apps())
def test_each_app_is_installed_with_its_man_page(prefix, app):
    assert re.search(r"\d+\.\d+\.\d+", output_of(prefix / "bin" / app, "--version", env=with_libraries(prefix)))
    assert (prefix / "share" / "man" / "man1" / f"{app}.1").read_text().startswith((".TH", '.\\"', ".Dd"))
