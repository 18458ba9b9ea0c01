#!/usr/bin/env bash
# The tests that need a GPU, on the machine that has one: tests/gpu.sh [BUILD_DIR], by default build/cuda.
# Every CUDA test by itself, then beside another process that keeps the GPU busy, then the kernels' tests under
# each tool of compute-sanitizer where that is installed. A test that would be skipped fails.
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
  watched "$tool" cuda_device_radix_sort RadixSortTiles.SeveralTilesOfAPass
  watched "$tool" cuda_block_scan '*'
done
