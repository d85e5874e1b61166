# The program dfc, and dfc_command_line: what dfc-bench shares with it. The version of the sources goes into one file that is
# looked at in every build and written only when it has changed.

set(dfc_version_header "${PROJECT_BINARY_DIR}/generated/tools/dfc/version.h")
set(dfc_version_command "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DHEADER=${dfc_version_header}"
    "-DRELEASE=${PROJECT_VERSION}" -P "${PROJECT_SOURCE_DIR}/tools/cmake/dfc_write_version.cmake")
execute_process(COMMAND ${dfc_version_command} COMMAND_ERROR_IS_FATAL ANY)
add_custom_target(dfc_version COMMAND ${dfc_version_command} BYPRODUCTS "${dfc_version_header}" VERBATIM)

dfc_room_library(dfc_command_line GLOBS tools/dfc/*.cpp EXCLUDE ^tools/dfc/main\\.cpp$ LINKS dfc_open dfc_compiler_explain CLI11::CLI11)
add_dependencies(dfc_command_line dfc_version)
target_include_directories(dfc_command_line SYSTEM PRIVATE "${PROJECT_BINARY_DIR}/generated")
dfc_executable(dfc GLOBS tools/dfc/main.cpp EXCLUDE ^tools/dfc/.+/ LINKS dfc_command_line)
