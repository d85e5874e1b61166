# The libraries that dfc uses, each as one target whose headers are SYSTEM.
# Assumes the Debian 12 or Ubuntu 24.04 packages that tools/install_dependencies names.
# Libraries whose own CMake files ask for more than dfc uses (dnnl asks for OpenCL) are found by header and file.

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
if(DFC_BUILD_TOOLS)
  find_package(CLI11 REQUIRED)
endif()
find_package(Boost 1.74 REQUIRED)

# dfc_imported(TARGET HEADER LIBRARY): an INTERFACE target for a library found by one header and one file.
# LIBRARY may be empty for a library that is headers only.
function(dfc_imported target header library)
  string(TOUPPER ${target} prefix)
  find_path(${prefix}_INCLUDE ${header} REQUIRED)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${${prefix}_INCLUDE}")
  if(library)
    find_library(${prefix}_LIBRARY ${library} REQUIRED)
    target_link_libraries(${target} INTERFACE "${${prefix}_LIBRARY}")
  endif()
endfunction()

dfc_imported(dfc_dnnl oneapi/dnnl/dnnl.hpp dnnl)
if(NOT DFC_FUZZ) # builds no oneDNN module (CMakeLists.txt)
  find_package(OpenMP REQUIRED COMPONENTS CXX) # only to tell oneDNN's OpenMP how many threads to use
  target_link_libraries(dfc_dnnl INTERFACE OpenMP::OpenMP_CXX)
endif()
dfc_imported(dfc_hwy hwy/highway.h hwy)
target_compile_definitions(dfc_hwy INTERFACE HWY_SHARED_DEFINE)
dfc_imported(dfc_zip zip.h zip)
dfc_imported(dfc_flatbuffers flatbuffers/flatbuffers.h "")
find_program(DFC_FLATC flatc REQUIRED)

# LLVM: only its containers. LLVMSupport is linked statically, so that no libLLVM is loaded at run time.
# The distribution's default version wins; -DLLVM_DIR=... overrides.
find_program(DFC_LLVM_CONFIG llvm-config)
if(DFC_LLVM_CONFIG)
  execute_process(COMMAND "${DFC_LLVM_CONFIG}" --cmakedir
                  OUTPUT_VARIABLE dfc_llvm_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_package(LLVM REQUIRED CONFIG HINTS ${dfc_llvm_dir})
if(LLVM_PACKAGE_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "dfc needs LLVM 14 or newer, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
add_library(dfc_llvm INTERFACE)
target_include_directories(dfc_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(dfc_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(dfc_llvm INTERFACE ${dfc_llvm_definitions})
target_link_libraries(dfc_llvm INTERFACE LLVMSupport)

message(STATUS "dfc: LLVM ${LLVM_PACKAGE_VERSION}, Boost ${Boost_VERSION_STRING}, fmt ${fmt_VERSION}")
