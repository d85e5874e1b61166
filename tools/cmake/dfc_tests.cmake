# tests/<room>/ becomes the executable tests_<room>; each of its Catch2 cases is a CTest test named `<room>: <case>` with
# the label <room>. A case tagged [heavy] also has the label `heavy`, which the test presets leave out.

find_package(Catch2 REQUIRED)

# The example files beside the checkout, or beside the folder of worktrees that holds it.
foreach(place ../shared ../../shared)
  cmake_path(ABSOLUTE_PATH place BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE folder)
  if(NOT DFC_SHARED_DIR AND IS_DIRECTORY "${folder}")
    set(DFC_SHARED_DIR "${folder}")
  endif()
endforeach()
if(DFC_SHARED_DIR)
  file(CREATE_LINK "${DFC_SHARED_DIR}" "${PROJECT_BINARY_DIR}/share/dfc/shared" SYMBOLIC)
endif()

# Catch2 2 is a header whose main() we compile once, here; Catch2 3 brings its own library.
dfc_room_library(dfc_test_support GLOBS tests/support/*.cpp BATCH 1 LINKS dfc_ir dfc_compiler_lower Threads::Threads)
get_target_property(kind dfc_test_support TYPE)
if(kind STREQUAL INTERFACE_LIBRARY)
  message(FATAL_ERROR "tests/support has no sources")
endif()
if(Catch2_VERSION VERSION_LESS 3)
  target_link_libraries(dfc_test_support PUBLIC Catch2::Catch2)
  target_compile_definitions(dfc_test_support PUBLIC DFC_CATCH2_MAJOR=2)
else()
  target_link_libraries(dfc_test_support PUBLIC Catch2::Catch2WithMain)
  target_compile_definitions(dfc_test_support PUBLIC DFC_CATCH2_MAJOR=3)
endif()
target_link_libraries(dfc_test_support PUBLIC dfc_executable_folder) # finds the tests' files
# Tests with helpers of the same names as in other tests are compiled alone.
set_source_files_properties(
  tests/conformance/attention_test.cpp tests/runtime/cuda/cuda_attention_test.cpp tests/compiler/list_schedule_test.cpp tests/compiler/place_automatically_test.cpp tests/compiler/passes/set_precision_test.cpp tests/compiler/passes/set_precision_storage_test.cpp tests/ir/graph/type_rules_test.cpp
  tests/ir/graph/windows_test.cpp tests/property/automatic_placement_test.cpp tests/property/mutation_test.cpp tests/runtime/cuda/cuda_library_convolution_test.cpp
  tests/runtime/cuda/cuda_kernel_cache_test.cpp tests/runtime/kernels/kernels_functions_test.cpp
  tests/runtime/kernels/kernels_matmul_test.cpp tests/runtime/kernels/kernels_rows_test.cpp
  tests/compiler/passes/several_results_test.cpp tests/ir/machine/machine_test.cpp tests/runtime/files/files_safetensors_test.cpp
  tests/tools/cli_machine_test.cpp tests/tools/cli_outputs_test.cpp
  tests/runtime/kernels/kernels_fused_test.cpp tests/runtime/kernels/kernels_convolution_test.cpp tests/runtime/kernels/kernels_pool_loops_test.cpp
  tests/runtime/marks_test.cpp tests/runtime/custom_test.cpp tests/runtime/custom_library_test.cpp tests/property/custom_tasks_test.cpp
  tests/conformance/custom/custom_ops_test.cpp tests/tools/cli_custom_test.cpp tests/ir/graph/custom_test.cpp tests/compiler/passes/custom_passes_test.cpp
  tests/runtime/files/csv_test.cpp tests/runtime/training/trainer_test.cpp tests/runtime/weights/weights_test.cpp tests/runtime/data/array_source_test.cpp
  tests/compiler/training/training_rules_test.cpp
  tests/compiler/training/layers_test.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set_source_files_properties(tests/support/catch_main.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "-O0;-g0")

# Cases are listed when ctest starts, not when the executable is linked, so that nothing runs during a build.
function(dfc_test_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS")
  set(target tests_${room})
  dfc_executable(${target} GLOBS tests/${room}/*.cpp BATCH 5 LINKS dfc_test_support ${arg_LINKS})
  if(TARGET ${target})
    set(ask "${PROJECT_BINARY_DIR}/tests/${target}.cmake")
    string(REGEX MATCH "^[0-9]+" major "${Catch2_VERSION}")
    file(WRITE "${ask}"
      "set(exe [==[${DFC_BIN_DIR}/${target}]==])\n"
      "set(list [==[${PROJECT_BINARY_DIR}/tests/${target}_cases.cmake]==])\n"
      "set(prefix [==[${room}: ]==])\nset(room ${room})\nset(major ${major})\n"
      "include([==[${PROJECT_SOURCE_DIR}/tools/cmake/dfc_discover_tests.cmake]==])\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${ask}")
  endif()
endfunction()

dfc_test_room(ir LINKS dfc_ir)
dfc_test_room(compiler LINKS dfc_compiler_explain dfc_compiler)
if(TARGET tests_compiler AND EXISTS "${PROJECT_SOURCE_DIR}/samples/03_figure/graph.cpp")
  target_sources(tests_compiler PRIVATE samples/03_figure/graph.cpp samples/03_figure/overlap.cpp) # the lesson itself
endif()
dfc_test_room(runtime LINKS dfc_runtime dfc_compiler_lower dfc_kernel_cache)
# CUDA's compiler library alone checks the generated kernels: no GPU is needed, and no driver. It is opened when the
# tests run, so that they also run where it is not.
find_package(CUDAToolkit QUIET)
if(TARGET tests_runtime)
  target_sources(tests_runtime PRIVATE runtime/cuda/nvtx_marks.cpp) # headers alone, and no marks without them
endif()
if(TARGET tests_runtime AND CUDA_nvrtc_LIBRARY)
  cmake_path(GET CUDA_nvrtc_LIBRARY PARENT_PATH folder)
  target_compile_definitions(tests_runtime PRIVATE DFC_TEST_NVRTC="libnvrtc.so.${CUDAToolkit_VERSION_MAJOR}")
  set_target_properties(tests_runtime PROPERTIES BUILD_RPATH "${folder}") # as installed: dfc_bundle.cmake
  target_include_directories(tests_runtime SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endif()
# Kernels on this host's GPU without a session: CUDA's runtime and compiler are linked. Cases skip where there is no GPU.
if(TARGET dfc_cuda)
  dfc_test_room(cuda LINKS dfc_compiler_lower dfc_kernel_cache CUDA::cudart_static CUDA::cublasLt CUDA::nvrtc)
endif()
if(TARGET tests_cuda)
  target_sources(tests_cuda PRIVATE runtime/cuda/check.cpp runtime/cuda/library/kernel_library.cpp runtime/cuda/library/custom_kernel.cpp
                 runtime/cpu/thread_pool.cpp)
endif()
dfc_test_room(tools LINKS dfc_bench dfc_sample_data dfc_compiler dfc_runtime dfc_compiler_lower dfc_kernel_cache CLI11::CLI11)
# Functions of custom ops, in C, that `dfc run --custom` opens.
add_library(dfc_test_functions MODULE tests/tools/custom_functions.c)
target_include_directories(dfc_test_functions PRIVATE "${PROJECT_SOURCE_DIR}")
set_target_properties(dfc_test_functions PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${DFC_BIN_DIR}" C_VISIBILITY_PRESET hidden)
if(TARGET tests_tools)
  add_dependencies(tests_tools dfc_test_functions)
endif()
dfc_test_room(conformance LINKS dfc_compiler dfc_runtime dfc_compiler_lower dfc_kernel_cache ${CMAKE_DL_LIBS})
if(TARGET tests_conformance)
  # The MLP, whose launches are counted, and the programs that the cuda backend makes.
  target_sources(tests_conformance PRIVATE tools/bench/graphs/mlp.cpp runtime/cuda/stream/peer_programs.cpp)
  target_compile_definitions(tests_conformance PRIVATE DFC_CXX_COMPILER="${CMAKE_CXX_COMPILER}")
endif()
dfc_test_room(onnx LINKS dfc_open)
dfc_test_room(property LINKS dfc_compiler dfc_runtime)
if(TARGET tests_property) # generated task graphs
  target_sources(tests_property PRIVATE tools/bench/graphs/task_families.cpp)
endif()
dfc_test_room(fuzz LINKS dfc_compiler dfc_runtime dfc_zip)
foreach(program dfc dfc_micro)
  if(TARGET tests_tools AND TARGET ${program})
    add_dependencies(tests_tools ${program})
  endif()
endforeach()

# Leaks and stray accesses of a whole run, where valgrind is installed. Without AVX: oneDNN's generated AVX code reads a
# vector past its own scratch memory and throws it away.
find_program(DFC_VALGRIND valgrind)
set(dfc_images /usr/share/datasets/fashion-mnist)
if(TARGET dfc AND DFC_VALGRIND AND NOT DFC_SANITIZE AND EXISTS "${dfc_images}")
  add_test(NAME tools.valgrind WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/tests"
    COMMAND "${DFC_VALGRIND}" -q --leak-check=full --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=9
            $<TARGET_FILE:dfc> run "${PROJECT_SOURCE_DIR}/samples/04_graph_file/figure.dfg" -m cpu-2gpu --steps 2
            --feed images=fashion-mnist/train/images --feed labels=fashion-mnist/train/labels
            --trace valgrind-trace.json --save-state valgrind-state.safetensors)
  set_tests_properties(tools.valgrind PROPERTIES LABELS "tools;heavy" TIMEOUT 900 ENVIRONMENT ONEDNN_MAX_CPU_ISA=SSE41)
endif()

# dfc as another project uses it (label `outside`): the quick ways by default, those that build dfc anew are `heavy` too:
#   ctest --test-dir build/dev -L outside
# Not with sanitizers, whose flags the outside project does not have.
find_package(Python3 COMPONENTS Interpreter)
# The page of `dfc view` in a browser, where one is installed: ctest --test-dir build/dev -L browser
if(Python3_FOUND AND TARGET dfc AND NOT DFC_SANITIZE)
  add_test(NAME tools.page COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tests/tools/page/page_test.py" "${PROJECT_BINARY_DIR}")
  set_tests_properties(tools.page PROPERTIES LABELS "tools;browser" SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
if(Python3_FOUND AND NOT DFC_SANITIZE)
  foreach(way headers package pkgconfig without_module subdirectory fetch shared root)
    add_test(NAME outside.${way} COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tests/tools/outside_test.py"
             "${PROJECT_BINARY_DIR}" ${way})
    set_tests_properties(outside.${way} PROPERTIES LABELS outside SKIP_RETURN_CODE 77 TIMEOUT 3600)
  endforeach()
  set_tests_properties(outside.subdirectory outside.fetch outside.shared outside.root PROPERTIES LABELS "outside;heavy")
endif()

# The Python package (label `python`), as a build folder has it; and a wheel in an environment of its own, which builds all
# of dfc for it: `heavy`, ctest --test-dir build/dev -L wheel
if(TARGET dfc_python)
  set(dfc_pytest "${Python_EXECUTABLE}" -B -m pytest -q -p no:cacheprovider "${PROJECT_SOURCE_DIR}/tests/tools/python")
  add_test(NAME python.package COMMAND ${dfc_pytest} -m "not heavy")
  add_test(NAME python.heavy COMMAND ${dfc_pytest} -m heavy)
  set_tests_properties(python.package PROPERTIES LABELS python TIMEOUT 600 ENVIRONMENT "PYTHONPATH=${DFC_PYTHON_DIR}")
  set_tests_properties(python.heavy PROPERTIES LABELS "python;heavy" TIMEOUT 600
                       ENVIRONMENT "PYTHONPATH=${DFC_PYTHON_DIR}")
  add_test(NAME python.wheel COMMAND "${Python_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tests/tools/wheel_test.py"
           "${PROJECT_BINARY_DIR}")
  set_tests_properties(python.wheel PROPERTIES LABELS "wheel;heavy" TIMEOUT 3600 RUN_SERIAL TRUE)
endif()
