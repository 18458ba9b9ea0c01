# lookback_test(NAME SOURCES... [LIBS ...]): one GoogleTest program, run by ctest as one test.
find_package(GTest REQUIRED)

function(lookback_test name)
    cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gtest_main
                                          Threads::Threads lookback_options)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
endfunction()
