# Installation, except for the library (dfc_library.cmake). By default the program dfc; the component `bundle` adds lessons,
# tests and benchmarks. `cpack` packs both into a folder that may be moved to another host. bin/ has the programs, lib/dfc
# their modules and the libraries that a bare host lacks, share/dfc their data files by path in the source tree. No file
# names a folder of the build machine (tests/tools/bundle_test.py).

# --- Programs and modules. Run paths are relative to the file.
# RPATH, not RUNPATH: it also applies to indirect dependencies (libzip's libcrypto, oneDNN's libgomp), which are the
# system's files without run paths. The CUDA module keeps RUNPATH, so that LD_LIBRARY_PATH may choose among CUDA toolkits,
# whose usual folder is often unknown to the loader.
set(dfc_in_bundle COMPONENT bundle EXCLUDE_FROM_ALL)
get_property(dfc_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS dfc_targets)
  get_target_property(kind ${target} TYPE)
  if(NOT kind MATCHES "^(EXECUTABLE|MODULE_LIBRARY)$" OR
     target MATCHES "^dfc_(executors|micro|python|test_functions)$") # linked with optional libraries of the build host; a test's
    continue()
  endif()
  set(run_path "$ORIGIN/../lib/dfc")
  if(kind STREQUAL MODULE_LIBRARY)
    set(run_path "$ORIGIN")
  endif()
  if(target MATCHES "^(dfc_cuda|dfc_cublaslt|tests_runtime)$")
    list(APPEND run_path /usr/local/cuda/lib64)
  endif()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${run_path}")
  if(NOT target STREQUAL dfc_cuda)
    target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
  endif()
  if(target STREQUAL dfc OR kind STREQUAL MODULE_LIBRARY)
    install(TARGETS ${target} RUNTIME_DEPENDENCY_SET dfc_libraries RUNTIME DESTINATION bin LIBRARY DESTINATION lib/dfc)
  else()
    install(TARGETS ${target} RUNTIME_DEPENDENCY_SET dfc_bundle_libraries ${dfc_in_bundle} RUNTIME DESTINATION bin)
  endif()
endforeach()

# --- Libraries. glibc, the C++ runtime and CUDA come from the host. The C++ runtime does because CUDA's libraries may need a
# newer one than the build host's, and a process has only one; every system with this glibc has one that is new enough.
set(dfc_foreign_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so" "^lib(cuda|cublasLt|nvrtc)\\.so" "^libdfc\\.so")
install(RUNTIME_DEPENDENCY_SET dfc_libraries ${dfc_foreign_libraries} LIBRARY DESTINATION lib/dfc)
install(RUNTIME_DEPENDENCY_SET dfc_bundle_libraries ${dfc_foreign_libraries} LIBRARY DESTINATION lib/dfc ${dfc_in_bundle})
# Their licences, where Debian's package manager knows them.
install(CODE [[
  file(GLOB libraries LIST_DIRECTORIES FALSE RELATIVE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/dfc"
       "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/dfc/*.so.*")
  foreach(library IN LISTS libraries)
    execute_process(COMMAND dpkg-query -S "*/${library}" OUTPUT_VARIABLE package RESULT_VARIABLE failed ERROR_QUIET)
    string(REGEX REPLACE "[:,].*" "" package "${package}")
    if(NOT failed AND EXISTS "/usr/share/doc/${package}/copyright")
      file(INSTALL "/usr/share/doc/${package}/copyright" DESTINATION "${CMAKE_INSTALL_PREFIX}/share/dfc/licences"
           RENAME "${package}")
    endif()
  endforeach()
]])

# --- Data files and documentation.
install(DIRECTORY samples/machines DESTINATION share/dfc/samples)
install(DIRECTORY samples DESTINATION share/dfc ${dfc_in_bundle} PATTERN machines EXCLUDE)
if(TARGET dfc_test_functions)
  install(TARGETS dfc_test_functions LIBRARY DESTINATION bin ${dfc_in_bundle}) # which a test opens
endif()
install(DIRECTORY tests/golden tests/invalid DESTINATION share/dfc/tests ${dfc_in_bundle})
install(DIRECTORY tests/compiler/instances DESTINATION share/dfc/tests/compiler ${dfc_in_bundle})
install(DIRECTORY tests/fuzz/findings DESTINATION share/dfc/tests/fuzz ${dfc_in_bundle})
install(FILES tests/conformance/cuda_imitation.h DESTINATION share/dfc/tests/conformance ${dfc_in_bundle})
install(FILES tests/onnx/node_tests.txt DESTINATION share/dfc/tests/onnx ${dfc_in_bundle})
install(DIRECTORY tools/bench/baselines tools/bench/results DESTINATION share/dfc/tools/bench ${dfc_in_bundle} PATTERN __pycache__ EXCLUDE)
file(GLOB_RECURSE dfc_pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     ir/README.md compiler/README.md runtime/README.md tests/README.md tools/README.md)
list(APPEND dfc_pages README.md)
foreach(page IN LISTS dfc_pages)
  cmake_path(GET page PARENT_PATH folder)
  install(FILES ${page} DESTINATION share/dfc/${folder} ${dfc_in_bundle})
endforeach()

# --- The front page of the bundle.
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE dfc_glibc OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCH "^[0-9]+" dfc_gcc "${CMAKE_CXX_COMPILER_VERSION}")
set(dfc_gpus "It was built without the CUDA backend: GPUs are emulated by threads of the CPU.")
if(TARGET dfc_cuda)
  string(CONCAT dfc_gpus "GPUs need NVIDIA's driver and the libraries of CUDA ${CUDAToolkit_VERSION_MAJOR} (cuBLASLt, NVRTC), "
                "in `/usr/local/cuda/lib64`, on `LD_LIBRARY_PATH` or known to the loader; without them all else works.")
endif()
configure_file(tools/bundle/README.md.in "${PROJECT_BINARY_DIR}/bundle/README.md" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/bundle/README.md" DESTINATION . ${dfc_in_bundle})
install(PROGRAMS tools/bundle/run_tests DESTINATION . ${dfc_in_bundle})

# --- The tarball.
set(CPACK_GENERATOR TGZ)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};dfc;ALL;/;${PROJECT_BINARY_DIR};dfc;bundle;/")
set(CPACK_PACKAGE_NAME dfc)
set(CPACK_PACKAGE_VENDOR dfc)
set(CPACK_SYSTEM_NAME "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
include(CPack)

# --- Its test, in release builds only: ctest --test-dir build/release -L bundle
if(DFC_BUILD_TESTS AND CMAKE_BUILD_TYPE STREQUAL Release AND Python3_FOUND)
  add_test(NAME bundle COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tests/tools/bundle_test.py"
           "${PROJECT_BINARY_DIR}" "${CMAKE_CPACK_COMMAND}")
  set_tests_properties(bundle PROPERTIES LABELS bundle TIMEOUT 3600 RUN_SERIAL TRUE)
endif()
