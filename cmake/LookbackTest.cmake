# lookback_test(NAME SOURCES... [LIBS ...]): one GoogleTest program, run by ctest as one test.
# lookback_pytest(NAME FILE [ENVIRONMENT VAR=VALUE...]): one pytest file, run by ctest as one test.
# lookback_skipped_test(NAME REASON): stands for one that is not built here.
# All leave a JUnit report in reports/NAME.xml; tests/support/summary.py counts from these.
find_package(GTest REQUIRED)

# The system's interpreter first: the one that has Debian's h5py and pytest.
find_program(LOOKBACK_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(LOOKBACK_PYTHON python3 REQUIRED)
set(LOOKBACK_REPORTS ${PROJECT_BINARY_DIR}/reports)
set(LOOKBACK_TEST_ENVIRONMENT "TSAN_OPTIONS=history_size=7 halt_on_error=1 second_deadlock_stack=1")

function(lookback_test name)
    cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gtest_main
                                          Threads::Threads lookback_options)
    # Tests of the library's parts include "cpu/...", "memory/...".
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests
                                               ${PROJECT_SOURCE_DIR}/lib/include
                                               ${PROJECT_SOURCE_DIR}/lib/src)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1
                                  --gtest_output=xml:${LOOKBACK_REPORTS}/${name}.xml)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${LOOKBACK_TEST_ENVIRONMENT}")
endfunction()

# A test that is not built here: ctest and the summary show it, as skipped, with the reason.
function(lookback_skipped_test name reason)
    add_test(NAME ${name} COMMAND ${LOOKBACK_PYTHON} ${PROJECT_SOURCE_DIR}/tests/support/skipped.py
                                  ${name} ${reason} ${LOOKBACK_REPORTS}/${name}.xml)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

function(lookback_pytest name file)
    cmake_parse_arguments(arg "" "" "ENVIRONMENT" ${ARGN})
    add_test(NAME ${name} COMMAND ${LOOKBACK_PYTHON} -m pytest -q -p no:cacheprovider
                                  --junitxml=${LOOKBACK_REPORTS}/${name}.xml ${file})
    set_tests_properties(${name} PROPERTIES
        ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;LOOKBACK_SOURCE_DIR=${PROJECT_SOURCE_DIR};LOOKBACK_BUILD_DIR=${PROJECT_BINARY_DIR};${LOOKBACK_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()
