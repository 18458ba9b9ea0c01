# The package for find_package(lookback) and pkg-config. A static library carries its needs along.
include(CMakePackageConfigHelpers)

set(LOOKBACK_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lookback)
get_target_property(lookback_type lookback TYPE)
set(LOOKBACK_IS_STATIC OFF)
set(lookback_pc_requires "")
set(lookback_pc_libs "")
if(lookback_type STREQUAL "STATIC_LIBRARY")
    set(LOOKBACK_IS_STATIC ON)
    set(lookback_pc_requires "tbb, libhwy")
    set(lookback_pc_libs "-lstdc++ -lm -pthread")
    if(LOOKBACK_HAS_CUDA)
        string(APPEND lookback_pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
    endif()
endif()

configure_package_config_file(cmake/lookbackConfig.cmake.in ${PROJECT_BINARY_DIR}/lookbackConfig.cmake
    INSTALL_DESTINATION ${LOOKBACK_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lookbackConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
# Relative to the file itself, so that `cmake --install --prefix` may choose another place.
file(RELATIVE_PATH lookback_pc_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/lookback.pc.in ${PROJECT_BINARY_DIR}/lookback.pc @ONLY)

install(EXPORT lookback NAMESPACE lookback:: FILE lookbackTargets.cmake DESTINATION ${LOOKBACK_CMAKE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/lookbackConfig.cmake ${PROJECT_BINARY_DIR}/lookbackConfigVersion.cmake
        DESTINATION ${LOOKBACK_CMAKE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/lookback.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(LOOKBACK_APPS)
    file(GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
    install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
