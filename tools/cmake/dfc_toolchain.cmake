# The language, the warnings, the sanitizers, and the faster launcher and linker where they are installed.
# Assumes GCC 12 or Clang 15 and newer; promises the same flags for every target of the project.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden) # public headers mark what a shared library exports (ir/base/visibility.h)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

# One folder for executables and modules: a module is looked for beside the executable.
set(DFC_BIN_DIR "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${DFC_BIN_DIR}")
# What programs read at run time is looked for in ../share/dfc, seen from the executable, by its path in the source tree.
# An installation has copies there (dfc_bundle.cmake), a build folder these links: no path of this machine is compiled in.
foreach(room ir samples tests tools)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/dfc")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${room}" "${PROJECT_BINARY_DIR}/share/dfc/${room}" SYMBOLIC)
endforeach()

option(DFC_DEBUG_CHECKS "Verify every stage as it is made, and keep assertions" OFF)
option(DFC_UNITY_BUILD "Compile several sources of a target together, which halves the cost of a whole build" ON)
option(DFC_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
set(DFC_SANITIZE "" CACHE STRING "Value of -fsanitize=, or empty")

# ccache knows files by their path in the source tree, so that a clone elsewhere finds what another has compiled.
find_program(DFC_CCACHE ccache)
if(DFC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(dfc_launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${DFC_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${dfc_launcher}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${dfc_launcher}")
endif()

include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX -fuse-ld=${linker} DFC_HAS_LINKER_${linker})
  if(DFC_HAS_LINKER_${linker})
    add_link_options(-fuse-ld=${linker})
    set(DFC_LINKER ${linker})
    break()
  endif()
endforeach()
add_link_options(LINKER:--as-needed)

# Every target of the project links this. Imported headers are SYSTEM, so its warnings do not apply to them.
add_library(dfc_flags INTERFACE)
target_include_directories(dfc_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(dfc_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -Wswitch -Wvla -Wundef -Wformat=2 $<$<BOOL:${DFC_WERROR}>:-Werror>)
# Unity builds: a name in the anonymous namespace of one file may shadow a global name of another file.
if(NOT DFC_UNITY_BUILD)
  target_compile_options(dfc_flags INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(dfc_flags INTERFACE -Wshadow=local)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 sees an overlap in std::string's operator+ that cannot be (GCC bug 105651).
  target_compile_options(dfc_flags INTERFACE -Wno-restrict)
  # What these say depends on how much was inlined: at -O3, and between a sanitizer's instrumentation, they are wrong about
  # std::string, <regex> and variants. The dev preset keeps them.
  if(DFC_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(dfc_flags INTERFACE
      -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-free-nonheap-object)
  endif()
endif()
# a * b + c rounds twice unless the source asks for a fused multiply-add: the same bits on every processor.
target_compile_options(dfc_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
# Assertions and tests name their file as the repository does, not by where it lies on this machine. The last spelling is
# what ccache's base_dir makes of the first; neither is hashed by it.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_BINARY_DIR}" OUTPUT_VARIABLE dfc_way_back)
foreach(folder "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${dfc_way_back}")
  target_compile_options(dfc_flags INTERFACE "-fmacro-prefix-map=${folder}/=")
endforeach()
if(DFC_DEBUG_CHECKS)
  target_compile_definitions(dfc_flags INTERFACE DFC_DEBUG_CHECKS=1)
endif()
if(DFC_SANITIZE)
  target_compile_options(dfc_flags INTERFACE
    -fsanitize=${DFC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(dfc_flags INTERFACE -fsanitize=${DFC_SANITIZE})
endif()
option(DFC_FUZZ "Build the fuzz targets (clang only)" OFF)
if(DFC_FUZZ)
  target_compile_options(dfc_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

message(STATUS "dfc: ccache ${DFC_CCACHE}, linker ${DFC_LINKER}, sanitizers '${DFC_SANITIZE}', "
               "debug checks ${DFC_DEBUG_CHECKS}")
