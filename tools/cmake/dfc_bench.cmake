# dfc-bench: the experiments and their baselines, a program of its own; dfc_bench: all of it but main, which tests link.

# With the models of lessons 6 and 7, which it times.
dfc_room_library(dfc_bench GLOBS tools/bench/*.cpp samples/06_gpt/gpt.cpp samples/07_resnet/resnet.cpp
                 EXCLUDE ^tools/bench/cublaslt/ ^tools/bench/executors/ main\\.cpp$
                 LINKS dfc_command_line)

dfc_executable(dfc-bench GLOBS tools/bench/main.cpp EXCLUDE ^tools/bench/.+/ LINKS dfc_bench)

# dfc_executors: other task executors, each where its library is found. A separate executable, so that dfc is linked with
# none of them. Where one is not found, `dfc-bench` says so.
add_executable(dfc_executors tools/bench/executors/main.cpp tools/bench/graphs/dag.cpp tools/bench/spread.cpp
               tools/bench/result_lines.cpp)
target_link_libraries(dfc_executors PRIVATE dfc_flags dfc_ir Threads::Threads)
# dfc_executor(NAME target...): an executor: its file and the libraries that it links.
function(dfc_executor name)
  string(TOLOWER ${name} file)
  target_sources(dfc_executors PRIVATE "tools/bench/executors/${file}.cpp")
  target_link_libraries(dfc_executors PRIVATE ${ARGN})
  target_compile_definitions(dfc_executors PRIVATE DFC_HAS_${name})
endfunction()
find_path(DFC_TASKFLOW_INCLUDE_DIR taskflow/taskflow.hpp)
if(DFC_TASKFLOW_INCLUDE_DIR)
  target_include_directories(dfc_executors SYSTEM PRIVATE "${DFC_TASKFLOW_INCLUDE_DIR}")
  dfc_executor(TASKFLOW)
endif()
find_package(TBB CONFIG QUIET)
if(TBB_FOUND)
  dfc_executor(TBB TBB::tbb)
endif()
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(DFC_STARPU QUIET IMPORTED_TARGET starpu-1.4 starpu-1.3)
  if(DFC_STARPU_FOUND)
    dfc_executor(STARPU PkgConfig::DFC_STARPU)
  endif()
endif()

# dfc_cublaslt: cuBLASLt's times for the rows dense_backward. Where CUDA was not found, `dfc-bench baselines` says so.
if(TARGET dfc_cuda)
  add_executable(dfc_cublaslt tools/bench/cublaslt/main.cpp tools/bench/spread.cpp tools/bench/result_lines.cpp)
  target_link_libraries(dfc_cublaslt PRIVATE dfc_flags dfc_ir CUDA::cudart_static CUDA::cublasLt)
endif()

# dfc_micro: kernels, passes and other small pieces, timed by Google Benchmark, where that is found. Its library is shared
# in Debian, so it is a program of its own: dfc does not load it, and the bundle does without.
find_package(benchmark CONFIG QUIET)
if(benchmark_FOUND AND NOT DFC_FUZZ)
  add_executable(dfc_micro tools/bench/micro/main.cpp)
  target_link_libraries(dfc_micro PRIVATE dfc_flags dfc_bench benchmark::benchmark)
  add_dependencies(dfc_micro dfc_modules)
endif()
