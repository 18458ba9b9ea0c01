# Writes LOOKBACK_BENCH_COMMIT into HEADER, when it changed; run at each build of lookback-bench.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
    set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define LOOKBACK_BENCH_COMMIT \"@commit@\"\n" @ONLY)
