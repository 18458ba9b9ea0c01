#!/usr/bin/env bash
# The tests that need a GPU, on the machine that has one: tests/gpu.sh [--bench] [BUILD_DIR], by default build/cuda.
# Every CUDA test by itself, then expressions and h5select end to end against the CPU backend where Python, pytest and
# h5py are installed, then every CUDA test beside another process that keeps the GPU busy, then the kernels' tests
# under each tool of compute-sanitizer where that is installed; with --bench, the GPU benchmarks that are built. All of
# it runs, whatever fails; a table comes last, logs lie in $OUT (BUILD_DIR/gpu). A test that would be skipped fails.
set -uo pipefail
benchmarks=no
if [ "${1:-}" = --bench ]; then benchmarks=yes; shift; fi
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$source/build/cuda}" 2>/dev/null && pwd) && [ -x "$build/tests/cuda_device_scan" ] ||
  { echo "gpu.sh: no tests in ${1:-build/cuda}; build them first: cmake --preset cuda && ninja -C build/cuda" >&2; exit 2; }
logs=${OUT:-$build/gpu}
mkdir -p "$logs"
export LOOKBACK_REQUIRE_CUDA=1
tests=("$build"/tests/cuda_[!h]* "$build"/tests/lib_cuda_* "$build"/tests/lib_context)
table=()
failed=0

# step SECONDS NAME COMMAND...: runs it for so long at most, and shows the end of what it said if it fails.
step() {
  local limit=$1 name=$2 before=$SECONDS status
  shift 2
  timeout "$limit" "$@" >"$logs/$name.log" 2>&1
  status=$?
  if [ "$status" -ne 0 ]; then
    failed=$((failed + 1))
    echo "== $name: exit status $status"
    tail -n 30 "$logs/$name.log"
  fi
  table+=("$(printf '%-9s %4d s  %s' "$([ "$status" -eq 0 ] && echo passed || echo FAILED)" $((SECONDS - before)) "$name")")
}

run_all() {
  local suffix=$1 test
  shift
  for test in "${tests[@]}"; do
    [ -x "$test" ] && [ -f "$test" ] || continue
    step 300 "$(basename "$test")$suffix" "$test" --gtest_brief=1 "$@"
  done
}

run_all ""

if python3 -c 'import pytest, h5py' 2>/dev/null; then
  export LOOKBACK_BUILD_DIR=$build LOOKBACK_SOURCE_DIR=$source PYTHONDONTWRITEBYTECODE=1
  step 900 end_to_end python3 -m pytest -q -p no:cacheprovider -k "not emulated" \
    "$source/tests/apps/h5select_device_test.py" "$source/tests/apps/expression_fuzz_test.py"
else
  table+=("left out          end_to_end: no pytest and h5py here")
fi

"$build/tests/cuda_hog" 600 >"$logs/hog.log" 2>&1 &
busy=$!
trap 'kill "$busy" 2>/dev/null' EXIT
run_all _beside_hog --gtest_filter=-*TwoToThe31*  # which would take minutes here
kill "$busy" 2>/dev/null
wait "$busy" 2>/dev/null
trap - EXIT

if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    while read -r test filter; do
      step 300 "${test}_$tool" compute-sanitizer --error-exitcode 1 --tool "$tool" \
        "$build/tests/$test" --gtest_brief=1 --gtest_filter="$filter"
    done <<'FILTERS'
cuda_block_scan *
cuda_device_scan Scan.AFewTiles
cuda_device_segmented_scan SegmentedScan.CrowdsOfEmptySegments
cuda_device_compact Compact.Unique
cuda_device_compact_columns CompactColumns.*
cuda_device_radix_sort RadixSortTiles.SeveralTilesOfAPass
cuda_device_radix_buckets RadixSortBuckets/0.UnevenKeys
cuda_device_radix_stable RadixSortStable/0.RunsThatAgreeInTheTopBits
cuda_device_row_terms RowTerms.SizesAroundLanesGroupsWarpsAndTiles
lib_cuda_row_stream CudaRowStream.RowsAroundWordsAndBatches
FILTERS
  done
else
  table+=("left out          memcheck, racecheck, initcheck, synccheck: no compute-sanitizer here")
fi

if [ "$benchmarks" = yes ]; then
  for bench in "$build"/apps/bench/lookback-bench-cuda*; do
    [ -x "$bench" ] && step 600 "$(basename "$bench")" "$bench"
  done
fi

printf '%s\n' "${table[@]}"
[ "$failed" -eq 0 ]
