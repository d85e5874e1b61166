# DFC_FUZZ=ON (preset `fuzz`, clang only): a libFuzzer executable fuzz_<target> for each row of tests/fuzz/targets.cpp, and
# the target `fuzzers` for all. Everything that is linked into them is compiled with coverage counters (dfc_toolchain.cmake).

if(NOT DFC_FUZZ)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "libFuzzer comes with clang; use the preset `fuzz`")
endif()

# Of the support library only what makes random graphs and models, without its main().
dfc_sources(fuzz_sources GLOBS tests/fuzz/*.cpp tests/support/random_*.cpp tests/support/op_samples.cpp tests/support/onnx/onnx_message.cpp EXCLUDE _test\\.cpp$)
add_library(dfc_fuzz_targets STATIC ${fuzz_sources})
target_link_libraries(dfc_fuzz_targets PUBLIC dfc_flags dfc_compiler dfc_runtime dfc_zip)

add_custom_target(fuzzers)
file(STRINGS tests/fuzz/targets.cpp rows REGEX "{\"[a-z]+\", fuzz")
foreach(row IN LISTS rows)
  string(REGEX MATCH "\"([a-z]+)\"" ignored "${row}")
  set(target "${CMAKE_MATCH_1}")
  configure_file(tests/fuzz/driver.cpp.in "${PROJECT_BINARY_DIR}/generated/fuzz/${target}.cpp" @ONLY)
  add_executable(fuzz_${target} "${PROJECT_BINARY_DIR}/generated/fuzz/${target}.cpp")
  target_link_libraries(fuzz_${target} PRIVATE dfc_fuzz_targets)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${target})
endforeach()
