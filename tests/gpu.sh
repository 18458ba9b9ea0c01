#!/usr/bin/env bash
# The tests that need a GPU, on the machine that has one: tests/gpu.sh [BUILD_DIR], by default build/cuda.
# Every CUDA test by itself, then expressions and h5select end to end against the CPU backend where Python, pytest and
# h5py are installed, then every CUDA test beside another process that keeps the GPU busy, then the kernels' tests
# under each tool of compute-sanitizer where that is installed. A test that would be skipped fails.
set -euo pipefail
build=${1:-$(cd "$(dirname "$0")/.." && pwd)/build/cuda}
[ -x "$build/tests/cuda_device_scan" ] ||
  { echo "gpu.sh: no tests in $build; build them first: cmake --preset cuda && ninja -C build/cuda" >&2; exit 2; }
export LOOKBACK_REQUIRE_CUDA=1
tests=("$build"/tests/cuda_[!h]* "$build"/tests/lib_cuda_* "$build"/tests/lib_context)

run_all() {
  for test in "${tests[@]}"; do
    [ -x "$test" ] && [ -f "$test" ] || continue
    echo "-- $(basename "$test")"
    timeout 300 "$test" --gtest_brief=1 "$@"
  done
}

echo "== alone"
run_all

if python3 -c 'import pytest, h5py' 2>/dev/null; then
  echo "== expressions and h5select, --backend cuda against --backend cpu"
  source=$(cd "$(dirname "$0")/.." && pwd)
  LOOKBACK_BUILD_DIR=$(cd "$build" && pwd) LOOKBACK_SOURCE_DIR=$source PYTHONDONTWRITEBYTECODE=1 \
    timeout 900 python3 -m pytest -q -p no:cacheprovider -k "not emulated" \
    "$source/tests/apps/h5select_device_test.py" "$source/tests/apps/expression_fuzz_test.py"
else
  echo "gpu.sh: no pytest and h5py here; h5select end to end is left out"
fi

echo "== beside a process that holds every multiprocessor"
"$build/tests/cuda_hog" 600 &
busy=$!
trap 'kill "$busy" 2>/dev/null || true' EXIT
run_all --gtest_filter=-*TwoToThe31*  # which would take minutes here
kill "$busy" 2>/dev/null || true
wait "$busy" 2>/dev/null || true
trap - EXIT

command -v compute-sanitizer >/dev/null || { echo "gpu.sh: no compute-sanitizer here; its runs are left out"; exit 0; }
watched() {
  timeout 300 compute-sanitizer --error-exitcode 1 --tool "$1" "$build/tests/$2" --gtest_brief=1 --gtest_filter="$3"
}
for tool in memcheck racecheck initcheck synccheck; do
  echo "== $tool"
  watched "$tool" cuda_device_scan Scan.AFewTiles
  watched "$tool" cuda_device_segmented_scan SegmentedScan.CrowdsOfEmptySegments
  watched "$tool" cuda_device_compact Compact.Unique
  watched "$tool" lib_cuda_row_stream CudaRowStream.RowsAroundWordsAndBatches
  watched "$tool" cuda_device_radix_sort RadixSortTiles.SeveralTilesOfAPass
  watched "$tool" cuda_block_scan '*'
done
