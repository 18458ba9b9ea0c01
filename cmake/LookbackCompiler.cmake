# The compile options that every target of the project shares, as the target lookback_options.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(LOOKBACK_CCACHE ccache)
if(LOOKBACK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${LOOKBACK_CCACHE})
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${LOOKBACK_CCACHE})
endif()

add_library(lookback_options INTERFACE)
target_compile_options(lookback_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion>)

# GCC 12 and 13 warn of overlaps of 2^63 bytes inside std::string's own operator+ (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    target_compile_options(lookback_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

# Unity builds (the sanitizers' and clang-tidy's) read each header once for many sources: names of
# one file then stand beside those of another, which is harmless.
if(CMAKE_UNITY_BUILD)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
    target_compile_options(lookback_options INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow;$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>>)
endif()

if(LOOKBACK_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${LOOKBACK_SANITIZE}>
                        $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
                        $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>)
    add_link_options(-fsanitize=${LOOKBACK_SANITIZE})
endif()
