#!/usr/bin/env bash
# Installs what is missing (Debian, Ubuntu), builds, and runs every test.
# usage: tests/run.sh [--quick] [--only STEP,...] [--no-install] [--strict] [-j N]
#   steps: format release asan tsan tidy      --quick: format and release alone
#   --strict: compiler warnings are errors; what cannot run here for want of a tool fails
# Environment: LOOKBACK_REQUIRE_CUDA=1 makes a GPU test that has to be skipped fail;
#   LOOKBACK_CMAKE_ARGS is given to each configuration.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

all_steps="format release asan tsan tidy"
steps=$all_steps
install=()
strict=no
jobs=$(nproc)
while [ $# -gt 0 ]; do
    case "$1" in
        --quick) steps="format release" ;;
        --only) steps=${2//,/ }; shift ;;
        --no-install) install=(--no-install) ;;
        --strict) strict=yes ;;
        -j) jobs=$2; shift ;;
        -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "run.sh: error: unknown argument '$1' (see --help)" >&2; exit 2 ;;
    esac
    shift
done
for step in $steps; do
    case " $all_steps " in
        *" $step "*) ;;
        *) echo "run.sh: error: no step '$step' (there are: $all_steps)" >&2; exit 2 ;;
    esac
done

cmake/install-packages.sh "${install[@]}" build test || exit 1

# Clones in other folders share what ccache has compiled.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
export CTEST_OUTPUT_ON_FAILURE=1
unset CMAKE_BUILD_TYPE
warnings=()
if [ "$strict" = yes ]; then warnings=(-DCMAKE_COMPILE_WARNING_AS_ERROR=ON); fi

available_gib() { awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo; }

# A third of what nvcc compiles are tests that need a GPU.
gpu_tests=(-DLOOKBACK_GPU_TESTS=ON)
if [ "${LOOKBACK_REQUIRE_CUDA:-0}" != 1 ] && ! nvidia-smi -L >/dev/null 2>&1; then
    gpu_tests=(-DLOOKBACK_GPU_TESTS=OFF)
fi

configure() {
    local preset=$1
    cmake --preset "$preset" "${warnings[@]}" "${gpu_tests[@]}" ${LOOKBACK_CMAKE_ARGS:-} >"build/$preset.configure.log" 2>&1 || {
        tail -n 30 "build/$preset.configure.log"
        return 1
    }
    grep "CUDA backend:" "build/$preset.configure.log"
}

# Builds one preset and runs its tests; their reports land in build/PRESET/reports.
run_suite() {
    local preset=$1 parallel=$jobs
    configure "$preset" || return 1
    cmake --build "build/$preset" -j "$jobs" -- --quiet || return 1
    rm -rf "build/$preset/reports"
    # The tests with 2^31 items take up to 5 GiB each.
    if [ "${LOOKBACK_LARGE_TESTS:-0}" = 1 ] && [ "$(available_gib)" -lt 16 ]; then parallel=1; fi
    ctest --test-dir "build/$preset" -j "$parallel" --timeout 900 --no-tests=error \
        --output-junit "$root/build/$preset/ctest.xml" | grep --line-buffered -v -E '^ +Start +[0-9]+: '
}

step_format() {
    local tool
    tool=$(command -v clang-format-14 || true)
    if [ -z "$tool" ]; then
        echo "skipped: no clang-format-14 here (other versions format differently)"
        return 77
    fi
    find apps docs kernels lib tests -regex '.*\.\(cpp\|hpp\|c\|h\|cu\|cuh\)' -print0 |
        xargs -0 "$tool" --dry-run -Werror
}

step_release() {
    if [ "$(available_gib)" -ge 8 ]; then
        export LOOKBACK_LARGE_TESTS=1
    else
        echo "less than 8 GiB of memory are free: the tests with 2^31 items are skipped"
    fi
    run_suite release
    local status=$?
    unset LOOKBACK_LARGE_TESTS
    return $status
}

step_asan() {
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 \
        UBSAN_OPTIONS=print_stacktrace=1 run_suite asan
}

step_tsan() { run_suite tsan; }

step_tidy() {
    configure tidy && /usr/bin/python3 cmake/tidy.py --build build/tidy -j "$jobs"
}

mkdir -p build
results=()
failed=no
for step in $steps; do
    echo "== $step"
    before=$SECONDS
    "step_$step" </dev/null
    status=$?
    took=$((SECONDS - before))
    case $status in
        0) results+=("$step passed $took") ;;
        77) if [ "$strict" = yes ]; then
                results+=("$step failed $took"); failed=yes
            else
                results+=("$step skipped $took")
            fi ;;
        *) results+=("$step failed $took"); failed=yes ;;
    esac
    echo "== $step: ${results[-1]#* } s"
done

/usr/bin/python3 tests/support/summary.py "${results[@]}" || failed=yes
[ "$failed" = no ]
