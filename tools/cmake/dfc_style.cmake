# The style checks as tests (label `style`) and as the build target `style`. The naming rules run by default; the whole
# of .clang-tidy is `heavy`:  ctest --test-dir build/dev -R style.tidy

if(DFC_SANITIZE) # they look at the sources alone
  return()
endif()
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(STATUS "dfc: no python3: the style tests are left out")
  return()
endif()
cmake_host_system_information(RESULT dfc_cores QUERY NUMBER_OF_LOGICAL_CORES)
if(dfc_cores LESS 1) # CMake counts through /proc, which a bare chroot lacks
  set(dfc_cores 1)
endif()

function(dfc_style_test name)
  add_test(NAME style.${name} COMMAND "${Python3_EXECUTABLE}" -B ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(style.${name} PROPERTIES LABELS style SKIP_RETURN_CODE 77 TIMEOUT 3600)
endfunction()

dfc_style_test(self tests/tools/style_test.py)
dfc_style_test(rooms tools/style/rooms.py)
dfc_style_test(format tools/style/format.py)
dfc_style_test(names tools/style/names.py "${PROJECT_BINARY_DIR}")
dfc_style_test(tidy tools/style/tidy.py "${PROJECT_BINARY_DIR}")
set_tests_properties(style.names style.tidy PROPERTIES PROCESSORS ${dfc_cores})
set_tests_properties(style.names style.tidy PROPERTIES COST 10000) # minutes on all cores: ctest -j starts them first
set_tests_properties(style.tidy PROPERTIES LABELS "style;heavy")

add_custom_target(style COMMAND "${CMAKE_CTEST_COMMAND}" -L style -LE heavy --output-on-failure
                  WORKING_DIRECTORY "${PROJECT_BINARY_DIR}" USES_TERMINAL)
