# dfc_bench: the experiments and their peers, a library of `dfc`. The version of the sources goes into one file that is
# looked at in every build and written only when it has changed.

set(dfc_version_header "${CMAKE_BINARY_DIR}/generated/tools/bench/version.h")
set(dfc_version_command "${CMAKE_COMMAND}" "-DSOURCE=${CMAKE_SOURCE_DIR}" "-DHEADER=${dfc_version_header}"
    "-DRELEASE=${PROJECT_VERSION}" -P "${CMAKE_SOURCE_DIR}/tools/cmake/dfc_write_version.cmake")
execute_process(COMMAND ${dfc_version_command} COMMAND_ERROR_IS_FATAL ANY)
add_custom_target(dfc_version COMMAND ${dfc_version_command} BYPRODUCTS "${dfc_version_header}" VERBATIM)

dfc_room_library(dfc_bench GLOBS tools/bench/*.cpp LINKS dfc_compiler dfc_runtime)
add_dependencies(dfc_bench dfc_version)
target_include_directories(dfc_bench SYSTEM PRIVATE "${CMAKE_BINARY_DIR}/generated")
target_sources(dfc_bench PRIVATE samples/03_figure/graph.cpp) # A4 is the lesson's own graph
