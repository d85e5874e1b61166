# How a room becomes a target. Sources are globbed below the room's folder, recursively; a room without sources is
# an INTERFACE library (or no executable at all), so that every preset configures from the first day on.

# dfc_sources(OUT GLOBS pattern... EXCLUDE regex...): paths relative to the source tree.
function(dfc_sources out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GLOBS;EXCLUDE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" ${arg_GLOBS})
  foreach(pattern IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()

# A static library, or an INTERFACE one while the room is empty.
function(dfc_room_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GLOBS;EXCLUDE;LINKS")
  dfc_sources(sources GLOBS ${arg_GLOBS} EXCLUDE ${arg_EXCLUDE})
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC dfc_flags ${arg_LINKS})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE dfc_flags ${arg_LINKS})
  endif()
endfunction()

# An executable in bin/, or nothing while it has no source.
function(dfc_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GLOBS;LINKS")
  dfc_sources(sources GLOBS ${arg_GLOBS})
  if(sources)
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE dfc_flags ${arg_LINKS})
    add_dependencies(${target} dfc_modules)
  endif()
endfunction()

# A part of the runtime that is opened with dlopen, so that its vendor's library is loaded only when it is used.
add_custom_target(dfc_modules)
function(dfc_backend_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GLOBS;EXCLUDE;EXTRA;LINKS")
  dfc_sources(sources GLOBS ${arg_GLOBS} EXCLUDE ${arg_EXCLUDE})
  if(sources)
    add_library(${target} MODULE ${sources} ${arg_EXTRA})
    target_link_libraries(${target} PRIVATE dfc_flags ${arg_LINKS})
    set_target_properties(${target} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY "${DFC_BIN_DIR}" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    add_dependencies(dfc_modules ${target})
  endif()
endfunction()

# The C++ reader and writer of a FlatBuffers schema, as #include "ir/<name>_generated.h", for TARGET and its users.
function(dfc_flatbuffer target schema)
  file(GLOB found CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" ${schema})
  get_target_property(kind ${target} TYPE)
  if(NOT found OR kind STREQUAL INTERFACE_LIBRARY)
    return()
  endif()
  cmake_path(GET schema PARENT_PATH folder)
  cmake_path(GET schema STEM name)
  set(generated "${CMAKE_BINARY_DIR}/generated")
  set(header "${generated}/${folder}/${name}_generated.h")
  add_custom_command(OUTPUT "${header}"
    COMMAND "${DFC_FLATC}" --cpp --cpp-std c++17 --scoped-enums -o "${generated}/${folder}" "${CMAKE_SOURCE_DIR}/${schema}"
    DEPENDS ${schema} COMMENT "flatc ${schema}" VERBATIM)
  target_sources(${target} PRIVATE "${header}")
  target_include_directories(${target} SYSTEM PUBLIC "${generated}")
  target_link_libraries(${target} PUBLIC dfc_flatbuffers)
endfunction()

# ir/all_ops.h in the build tree: an include of every op's header, so that a new op needs no second list.
function(dfc_all_ops target)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" ir/ops/*.h)
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN headers "\n" includes)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/ir/all_ops.h"
       CONTENT "// Generated from ir/ops/*.h by tools/cmake/dfc_rooms.cmake.\n#pragma once\n${includes}\n" @ONLY)
  target_include_directories(${target} SYSTEM PUBLIC "${CMAKE_BINARY_DIR}/generated")
endfunction()
