"""h5sort when things go wrong: one line that names file, object and what to do; nothing changed."""

import fcntl
import os
import resource
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest
from support import load, make, ok, program, refused, run, same_bytes

RNG = np.random.default_rng(5)


@pytest.fixture(name="source")
def source_fixture(tmp_path):
    return make(tmp_path / "in.h5", x=RNG.integers(0, 99, 1000), t__a=np.arange(5), t__b=np.arange(5))


@pytest.mark.parametrize("words, parts", [
    ([], ["no input", "h5sort IN"]),
    (["IN"], ["no output", "-o"]),
    (["IN", "OUT"], ["2 inputs", "-o OUT", "-m"]),
    (["IN", "-o", "OUT", "--revrse"], ["'--revrse'", "did you mean '--reverse'"]),
    (["IN", "-o", "OUT", "-x"], ["'-x'"]),
    (["IN", "-o", "OUT", "--head", "-1"], ["--head", "'-1'"]),
    (["IN", "-o", "OUT", "--head", "two"], ["--head", "'two'"]),
    (["IN", "-o", "OUT", "-S", "much"], ["--memory", "'much'", "1.5G"]),
    (["IN", "-o", "OUT", "-@", "0"], ["--threads", "'0'"]),
    (["IN", "-o", "OUT", "--backend", "gpu"], ["--backend", "'gpu'", "auto, cpu, cuda"]),
    (["IN", "-o", "OUT", "-f", "ZIP=9"], ["ZIP"]),
    (["IN", "-o", "OUT", "--chunk", "0"], ["--chunk", "'0'"]),
    (["IN", "-o", "OUT", "-T", "/nonexistent/folder"], ["/nonexistent/folder"]),
    (["IN", "-o", "OUT", "--index-only"], ["--index-only", "--index NAME"]),
    (["IN", "-o", "OUT", "--overwrite", "--truncate"], ["--overwrite", "--truncate"]),
    (["IN", "-o", "OUT", "-c"], ["--check", "--output"]),
    (["IN", "-o", "OUT", "-u", "--segments", "off"], ["--segments", "--unique"]),
    (["IN", "-o", "OUT", "-v", "-q"], ["--verbose", "--quiet"]),
    (["IN", "-o", "OUT", "-k", "x:asc:desc"], ["x:asc:desc"]),
    (["IN", "-o", "OUT", "-k", "y"], ["in.h5:/x", "'y'"]),
    (["IN", "-o", "OUT", "--segments", "off"], ["in.h5:/off"]),
    (["IN", "-d", "/x", "-o", "OUT"], ["--dataset"]),
    (["IN", "--config", "/nonexistent.conf", "-o", "OUT"], ["/nonexistent.conf"]),
    (["IN", "-o"], ["--output"]),
    (["IN", "-o", ":/x"], ["':/x'"]),
    (["IN", "-o", "/nonexistent/folder/out.h5"], ["/nonexistent/folder"]),
    (["/nonexistent/in.h5", "-o", "OUT"], ["/nonexistent/in.h5", "No such file"]),
    (["FILE:/none", "-o", "OUT"], ["in.h5", "/none", "/t, /x"]),
    (["FILE", "-o", "OUT"], ["in.h5", "/x", "/t"]),
    (["FOLDER", "-o", "OUT"], ["folder"]),
])
def test_usage(tmp_path, source, words, parts):
    names = {"IN": f"{source}:/x", "OUT": tmp_path / "out.h5", "FILE": source, "FILE:/none": f"{source}:/none",
             "FOLDER": tmp_path}
    message = refused("h5sort", *[names.get(word, word) for word in words])
    for part in parts:
        assert part in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5"]


def test_a_file_that_is_not_hdf5(tmp_path):
    out = make(tmp_path / "out.h5", x=np.arange(3))
    before = out.read_bytes()
    for name, content in [("empty.h5", b""), ("text.h5", b"no HDF5 here\n" * 100), ("noise.h5", RNG.bytes(5000)),
                          ("head.h5", b"\x89HDF\r\n\x1a\n"), ("head2.h5", b"\x89HDF\r\n\x1a\n" + RNG.bytes(3000))]:
        (tmp_path / name).write_bytes(content)
        assert name in refused("h5sort", f"{tmp_path / name}:/x", "-o", out, "--overwrite")
        assert out.read_bytes() == before
    (tmp_path / "text.h5").write_bytes(b"text")
    assert "text.h5" in refused("h5sort", f"{out}:/x", "-o", tmp_path / "text.h5")
    assert (tmp_path / "text.h5").read_bytes() == b"text"


def test_truncated_files(tmp_path):
    data = RNG.integers(0, 2**40, 40000)
    whole = make(tmp_path / "whole.h5", x=(data, {"chunks": (1000,), "compression": "gzip", "shuffle": True}),
                 y=data).read_bytes()
    out = make(tmp_path / "out.h5", x=np.arange(3))
    before = out.read_bytes()
    cut = tmp_path / "cut.h5"
    for length in [100, 1000, 2500, 20000, len(whole) // 2, len(whole) - 1000, len(whole) - 1]:
        cut.write_bytes(whole[:length])
        for name in "xy":
            assert "cut.h5" in refused("h5sort", f"{cut}:/{name}", "-o", f"{out}:/x", "--overwrite")
            assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.h5", "out.h5", "whole.h5"]


def test_garbage_inside_files(tmp_path):
    """Bytes overwritten at random: an error of one line or a result, never a crash or a hang."""
    data = RNG.integers(0, 2**40, 3000)
    whole = make(tmp_path / "whole.h5", x=(data, {"chunks": (500,), "compression": "gzip", "shuffle": True,
                                                  "fletcher32": True}),
                 t=np.zeros(50, [("a", "i4"), ("b", "S3")]), v=["ab", "c"]).read_bytes()
    out = make(tmp_path / "out.h5", keep=np.arange(3))
    before = out.read_bytes()
    for trial in range(60):
        broken = bytearray(whole)
        for _ in range(RNG.integers(1, 30)):
            broken[RNG.integers(0, len(broken) if trial % 2 else 3000)] = RNG.integers(0, 256)
        (tmp_path / "bad.h5").write_bytes(bytes(broken))
        process = run("h5sort", f"{tmp_path / 'bad.h5'}:/x", "-o", out, "--overwrite", timeout=60)
        assert process.returncode in (0, 2), (trial, process)
        if process.returncode == 2:
            assert process.stderr.count("\n") == 1 and process.stderr.startswith("h5sort: error: ")
            assert out.read_bytes() == before
        else:
            out.write_bytes(before)


def test_a_damaged_chunk_is_found(tmp_path):
    data = RNG.integers(0, 2**40, 4000)
    source = make(tmp_path / "in.h5", x=(data, {"chunks": (1000,), "compression": "gzip", "fletcher32": True}))
    with h5py.File(source) as file:
        chunk = file["x"].id.get_chunk_info(2)
    with open(source, "r+b") as file:
        file.seek(chunk.byte_offset + chunk.size // 2)
        file.write(b"\xff\x00\xff")
    message = refused("h5sort", source, "-o", tmp_path / "out.h5")
    assert "in.h5:/x" in message
    assert not (tmp_path / "out.h5").exists()


def as_user(app, words):
    """Runs a program as a user who may not write: root may do everything."""
    def drop():
        os.setgid(65534)
        os.setuid(65534)
    return subprocess.run([app, *map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=60, preexec_fn=drop if os.getuid() == 0 else None)


@pytest.fixture(name="public")
def public_fixture(tmp_path_factory):
    """A folder that every user can reach, also where pytest's own is closed."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="lookback_") as folder:
        os.chmod(folder, 0o755)
        yield __import__("pathlib").Path(folder)


def test_read_only_folder_and_file(public):
    app = shutil.copy(program("h5sort"), public / "h5sort")  # the build folder may be closed to others
    source = make(public / "in.h5", x=np.arange(10)[::-1])
    os.chmod(source, 0o444)
    process = as_user(app, [source, "-o", public / "out.h5"])
    assert process.returncode == 2 and process.stderr.count("\n") == 1
    assert "out.h5" in process.stderr and "ermission denied" in process.stderr
    writable = public / "writable"
    writable.mkdir()
    os.chmod(writable, 0o777)
    process = as_user(app, [source, "-o", writable / "out.h5"])  # reading needs no right to write
    assert process.returncode == 0, process
    same_bytes(load(writable / "out.h5", "x"), np.arange(10))
    secret = make(public / "secret.h5", x=np.arange(10))
    os.chmod(secret, 0)
    process = as_user(app, [secret, "-o", writable / "out2.h5"])
    assert process.returncode == 2 and "secret.h5" in process.stderr and "ermission denied" in process.stderr


def test_closed_stdout(tmp_path, source):
    with subprocess.Popen([program("h5sort"), "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        error = process.stderr.read().decode()
    assert process.returncode in (0, 2) and error.count("\n") <= 1


def test_links(tmp_path):
    """Soft and external links are followed; the output stays a link's target's own file."""
    source = make(tmp_path / "in.h5", data__x=np.arange(9)[::-1])
    other = tmp_path / "links.h5"
    with h5py.File(source, "a") as file:
        file["soft"] = h5py.SoftLink("/data/x")
        file["dangling"] = h5py.SoftLink("/nothing")
    with h5py.File(other, "w") as file:
        file["far"] = h5py.ExternalLink("in.h5", "/data/x")
    ok("h5sort", f"{source}:/soft", "-o", tmp_path / "a.h5")
    ok("h5sort", f"{other}:/far", "-o", tmp_path / "b.h5")
    same_bytes(load(tmp_path / "a.h5", "soft"), np.arange(9))
    same_bytes(load(tmp_path / "b.h5", "far"), np.arange(9))
    assert "/dangling" in refused("h5sort", f"{source}:/dangling", "-o", tmp_path / "c.h5")


def test_output_through_a_symbolic_link(tmp_path, source):
    real = make(tmp_path / "real.h5", y=np.arange(3))
    (tmp_path / "link.h5").symlink_to("real.h5")
    ok("h5sort", f"{source}:/x", "-o", tmp_path / "link.h5")
    assert (tmp_path / "link.h5").is_symlink()
    same_bytes(load(real, "x"), np.sort(load(source, "x")))


def test_permissions_of_a_replaced_file_are_kept(tmp_path, source):
    out = make(tmp_path / "out.h5", y=np.arange(3))
    os.chmod(out, 0o640)
    ok("h5sort", f"{source}:/x", "-o", out)
    assert out.stat().st_mode & 0o777 == 0o640


def test_no_cuda_is_an_error_only_by_name(tmp_path, source):
    process = run("h5sort", f"{source}:/x", "--backend", "cuda", "-o", tmp_path / "out.h5")
    assert process.returncode == 2 and process.stderr.count("\n") == 1
    ok("h5sort", f"{source}:/x", "--backend", "auto", "-o", tmp_path / "out.h5")


def start(words, **more):
    return subprocess.Popen([program("h5sort"), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **more)


def test_signals_leave_nothing_behind(tmp_path):
    source = make(tmp_path / "in.h5", x=(RNG.integers(0, 2**60, 3_000_000), {"chunks": (1 << 16,), "compression": "gzip"}))
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        # A shell's background job, or nohup, has the signal ignored, and the app keeps that.
        with start([source, "-o", tmp_path / "out.h5"],
                   preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL)) as process:
            deadline = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < deadline and len(list(tmp_path.iterdir())) == 1:
                time.sleep(0.001)
            process.send_signal(number)
            process.wait(60)
        assert process.returncode == -number
        assert [path.name for path in tmp_path.iterdir()] == ["in.h5"]


def test_kill_at_random_moments(tmp_path):
    """60 times kill -9: the output is the old file or the new one, whole; what is left over is told apart."""
    data = RNG.integers(0, 2**40, 400_000)
    source = make(tmp_path / "in.h5", x=(data, {"chunks": (1 << 14,), "compression": "gzip", "shuffle": True}))
    folder = tmp_path / "out"
    folder.mkdir()
    out, new = make(folder / "out.h5", x=np.arange(1000), keep=np.arange(7)), np.sort(data)
    words = [source, "-o", out, "--overwrite"]
    shutil.copy(out, tmp_path / "old.h5")
    begin = time.monotonic()
    ok("h5sort", *words)
    span = time.monotonic() - begin
    killed = finished = 0
    for trial in range(60):
        shutil.copy(tmp_path / "old.h5", out)
        with start(words) as process:
            time.sleep(RNG.uniform(0, span * 1.1))
            process.kill()
            process.wait(60)
        killed += process.returncode == -signal.SIGKILL
        with h5py.File(out) as file:
            assert sorted(file) == ["keep", "x"]
            same_bytes(file["keep"][()], np.arange(7))
            got = file["x"][()]
        if len(got) == 1000:
            same_bytes(got, np.arange(1000))
        else:
            same_bytes(got, new)
            finished += 1
        for left in folder.iterdir():
            if left.name != "out.h5":
                assert left.name != "in.h5" and "out.h5" in left.name  # named after the output
                left.unlink()
    assert killed >= 30, (killed, finished)


def test_locked_input(tmp_path, source):
    """A reader's lock does no harm; a writer's is named."""
    with open(source, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        ok("h5sort", f"{source}:/x", "-o", tmp_path / "out.h5")
    with open(source, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        message = refused("h5sort", f"{source}:/x", "-o", tmp_path / "out2.h5")
        assert "in.h5" in message and "writing" in message


def test_no_space_left(tmp_path):
    """A file-size limit stands for a full disk."""
    source = make(tmp_path / "in.h5", x=RNG.integers(0, 2**60, 500000))
    out = make(tmp_path / "out.h5", y=np.arange(3))
    before = out.read_bytes()
    message = refused("h5sort", source, "-o", out,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    assert "out.h5" in message
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.h5", "out.h5"]
