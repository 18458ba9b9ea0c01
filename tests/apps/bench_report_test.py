"""apps/bench/report.py: ratios within a job, shortfalls said, pieces of unlike runs refused."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

REPORT = pathlib.Path(os.environ["LOOKBACK_SOURCE_DIR"]) / "apps" / "bench" / "report.py"
CONTEXT = {"date": "2030-01-02T03:04:05+00:00", "commit": "abc123", "compiler": "GNU 12 Release",
           "cpu": "some CPU", "cores": "2", "memory": "8388608 kB", "python": "numpy 2.0",
           "highway": "1.0", "vqsort": "AVX2", "oneTBB": "2021", "folder": "/dev/shm", "quick": "no",
           "caches": [{"type": "Data", "level": 1, "size": 32768}]}


def runs_of(job, times):
    return [{"name": f"{job}/{contestant}", "label": f"what {job} is", "items": 1000, "item_bytes": 8,
             "real_time": time} for contestant, values in times.items() for time in values]


@pytest.fixture(name="page")
def make_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nafter\n")
    return page


def report(page, *pieces):
    files = []
    for number, (context, runs) in enumerate(pieces):
        files.append(page.parent / f"{number}.json")
        files[-1].write_text(json.dumps({"context": CONTEXT | context, "benchmarks": runs}))
    return subprocess.run([sys.executable, REPORT, "--document", page, *files], text=True,
                          capture_output=True, check=False)


SORT = {"lookback:2": [5, 4, 9], "lookback:1": [9, 8, 10], "numpy": [12, 10, 11], "vqsort": [13, 14, 12],
        "copy:2": [2, 2, 2]}


def test_ratios_are_of_medians_to_the_better_peer(page):
    done = report(page, ({}, runs_of("sort/u64", SORT)))
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "| 2 | 5.0 | numpy | 11.0 | 2.20 | 1.9 |" in text
    assert "| 1 | 9.0 | numpy | 11.0 | 1.22 | 1.1 |" in text
    assert "All reach what they should" in text and "**short**" not in text
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "abc123" in text and page.with_suffix(".svg").read_text().count("<rect") == 3


def test_floor_is_bytes_over_measured_bandwidth(page):
    report(page, ({}, runs_of("sort/u64", SORT)))
    # 8000 bytes, twice in and out, at 16000 bytes in 2 ms
    assert "| 4.0 | 5.0 | 1.25 |" in page.read_text()


def test_what_falls_short_is_said_twice(page):
    report(page, ({}, runs_of("scan/u32", {"lookback:2": [10], "tbb": [18], "copy:2": [9]})))
    text = page.read_text()
    assert "| 1.80 | 1.9 **short** |" in text and "`scan/u32` (2 thread(s) against tbb" in text
    assert "| 0.90 | 0.88 |" in text


def test_the_last_piece_of_a_job_counts_with_its_commit(page):
    report(page, ({}, runs_of("read/gzip", {"lookback:2": [9, 9], "H5Dread": [9, 9]})
                  + runs_of("sort/u64", SORT)),
           ({"commit": "def456"}, runs_of("read/gzip", {"lookback:2": [1, 1], "H5Dread": [5, 5]})))
    text = page.read_text()
    assert "| 5.00 | 4.5 |" in text
    assert "commit `def456` (read/gzip)" in text and "commit `abc123` (sort/u64)" in text


def test_a_core_that_was_taken_is_said(page):
    report(page, ({}, runs_of("sort/u64", SORT | {"copy:1": [4, 4]})))
    assert "one of the two cores was taken" not in page.read_text()
    report(page, ({}, runs_of("sort/u64", SORT | {"copy:1": [2, 2]})))
    assert "during `sort/u64`, so one of the two cores was taken" in page.read_text()


def test_unlike_pieces_and_wrong_outputs_are_refused(page):
    runs = runs_of("sort/u64", SORT)
    done = report(page, ({}, runs), ({"cpu": "another"}, runs))
    assert done.returncode != 0 and "cpu" in done.stderr
    runs[0] |= {"error_occurred": True, "error_message": "wrong output: keys are not in order"}
    done = report(page, ({}, runs))
    assert done.returncode != 0 and "not in order" in done.stderr
    assert "old" in page.read_text()


def test_gpu_chart_draws_the_tables_of_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("| scan, 2^28 items unless said | copy ms | of copy |\n|---|---|---|\n| u32 sum | 1.0 | 0.98 |\n"
                    "| u32 sum, 2^20 | 1.0 | 0.5 |\n\n"
                    "| scan and reduction of segments, u32 sum, 2^28 items | of floor |\n|---|---|\n| reduce, one | 0.71 |\n")
    chart = REPORT.with_name("gpu_chart.py")
    subprocess.run([sys.executable, chart, page], check=True)
    drawn = (tmp_path / "page-gpu.svg").read_text()
    assert "u32 sum<" in drawn and "2^20" not in drawn
    assert drawn.count("#2a7f62") == 1 and drawn.count("#c8553d") == 1  # reached; short
    page.write_text("nothing")
    assert subprocess.run([sys.executable, chart, page], capture_output=True, check=False).returncode == 1
