# How a room becomes a target. A room is a folder; its sources are globbed below it, without the rooms inside it. What a
# room may include is what its target links: tools/style/rooms.py reads the same rows.

# dfc_sources(OUT GLOBS pattern... EXCLUDE regex...): paths relative to the source tree.
function(dfc_sources out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GLOBS;EXCLUDE")
  list(TRANSFORM arg_GLOBS PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${arg_GLOBS})
  foreach(pattern IN LISTS arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()

# dfc_unity(TARGET BATCH): BATCH sources a translation unit. Sources that include themselves once for each instruction set
# (Highway) stay alone: their include guards are macros of one file.
function(dfc_unity target batch)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cpp$" AND NOT IS_ABSOLUTE "${source}")
      file(STRINGS "${PROJECT_SOURCE_DIR}/${source}" alone REGEX "define HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
      if(alone)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DFC_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

# dfc_room(FOLDER EXCLUDE regex... ROOMS folder... LINKS target... BATCH n): the static library dfc_<folder> of a room, with
# the rooms that it may include and the libraries that it uses.
function(dfc_room folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BATCH" "EXCLUDE;ROOMS;LINKS")
  string(REPLACE "/" "_" target "dfc_${folder}")
  list(TRANSFORM arg_ROOMS REPLACE "/" "_")
  list(TRANSFORM arg_ROOMS PREPEND "dfc_")
  dfc_sources(sources GLOBS ${folder}/*.cpp EXCLUDE ${arg_EXCLUDE})
  add_library(${target} STATIC ${sources})
  set_property(GLOBAL APPEND PROPERTY DFC_ROOMS ${target})
  target_link_libraries(${target} PUBLIC dfc_flags ${arg_ROOMS} ${arg_LINKS})
  if(NOT arg_BATCH)
    set(arg_BATCH 8)
  endif()
  dfc_unity(${target} ${arg_BATCH})
endfunction()

# A library of sources from several places.
function(dfc_room_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BATCH" "GLOBS;EXCLUDE;LINKS")
  dfc_sources(sources GLOBS ${arg_GLOBS} EXCLUDE ${arg_EXCLUDE})
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} PUBLIC dfc_flags ${arg_LINKS})
  if(NOT arg_BATCH)
    set(arg_BATCH 8)
  endif()
  dfc_unity(${target} ${arg_BATCH})
endfunction()

# An executable in bin/.
function(dfc_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BATCH" "GLOBS;EXCLUDE;LINKS")
  dfc_sources(sources GLOBS ${arg_GLOBS} EXCLUDE ${arg_EXCLUDE})
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE dfc_flags ${arg_LINKS})
  add_dependencies(${target} dfc_modules)
  if(NOT arg_BATCH)
    set(arg_BATCH 8)
  endif()
  dfc_unity(${target} ${arg_BATCH})
endfunction()

# A part of the runtime that is opened with dlopen, so that its vendor's library is loaded only when it is used.
add_custom_target(dfc_modules)
function(dfc_backend_module target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "GLOBS;EXCLUDE;EXTRA;LINKS")
  dfc_sources(sources GLOBS ${arg_GLOBS} EXCLUDE ${arg_EXCLUDE})
  add_library(${target} MODULE ${sources} ${arg_EXTRA})
  target_link_libraries(${target} PRIVATE dfc_flags ${arg_LINKS})
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${DFC_BIN_DIR}")
  dfc_unity(${target} 8)
  add_dependencies(dfc_modules ${target})
endfunction()

# The C++ reader and writer of a FlatBuffers schema, as #include "<folder>/<name>_generated.h", for TARGET and its users.
function(dfc_flatbuffer target schema)
  cmake_path(GET schema PARENT_PATH folder)
  cmake_path(GET schema STEM name)
  set(generated "${PROJECT_BINARY_DIR}/generated")
  set(header "${generated}/${folder}/${name}_generated.h")
  add_custom_command(OUTPUT "${header}"
    COMMAND "${DFC_FLATC}" --cpp --cpp-std c++17 --scoped-enums -o "${generated}/${folder}" "${PROJECT_SOURCE_DIR}/${schema}"
    DEPENDS ${schema} COMMENT "flatc ${schema}" VERBATIM)
  target_sources(${target} PRIVATE "${header}")
  target_include_directories(${target} SYSTEM PUBLIC "${generated}")
  target_link_libraries(${target} PUBLIC dfc_flatbuffers)
endfunction()

# ir/graph/all_ops.h in the build tree: an include of every op's header, so that a new op needs no second list.
function(dfc_all_ops target)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/ir/graph/ops/*.h")
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN headers "\n" includes)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/ir/graph/all_ops.h"
       CONTENT "// Generated from ir/graph/ops by tools/cmake/dfc_rooms.cmake.\n#pragma once\n${includes}\n" @ONLY)
  target_include_directories(${target} SYSTEM PUBLIC "${PROJECT_BINARY_DIR}/generated")
endfunction()

# The DSL's functions of formula ops, from the rows of ops.def and the comments of their headers: a declaration each in
# ir/author/formula_functions.h, which is public, its definition in formula_functions.inc, and a row in
# formula_functions.def, by which other languages bind it: DFC_FORMULA_FUNCTION_<operands>(name in Python, name, operands…,
# documentation). A header begins with
# "// name(operands): meaning"; an op with variants has a function of its own in dsl.h.
function(dfc_formula_functions target)
  set(rows "${PROJECT_SOURCE_DIR}/ir/graph/ops.def")
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/ir/graph/ops/elementwise/formulas/*.h")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${rows}" ${headers})
  file(READ "${rows}" table)
  foreach(header IN LISTS headers)
    file(READ "${header}" text)
    if(NOT text MATCHES "struct ([A-Za-z0-9]+) : FormulaOp<([0-9]+)>")
      continue()
    endif()
    set(type "${CMAKE_MATCH_1}")
    if(NOT table MATCHES "DFC_FORMULA_OP\\(${type}, ([A-Za-z0-9]+)\\)")
      message(FATAL_ERROR "${header}: ops.def has no row DFC_FORMULA_OP(${type}, name)")
    endif()
    set(name "${CMAKE_MATCH_1}")
    if(NOT text MATCHES "^// ${name}\\(([a-z, ]+)\\): ")
      message(FATAL_ERROR "${header} does not begin with \"// ${name}(operands): meaning\"")
    endif()
    set(operands "${CMAKE_MATCH_1}")
    string(REGEX REPLACE "([a-z]+)" "Operand \\1" parameters "${operands}")
    string(REGEX MATCH "^(//[^\n]*\n)+" comment "${text}")
    string(REPLACE "// " "/// " comment "${comment}")
    string(APPEND declarations "\n${comment}Tensor ${name}(${parameters});\n")
    string(APPEND definitions "Tensor ${name}(${parameters}) { return dsl::apply(ops::${type}{}, {${operands}}); }\n")
    string(REGEX MATCHALL "[a-z]+" each "${operands}")
    list(LENGTH each count)
    string(REGEX REPLACE "([A-Z])" "_\\1" python "${name}")
    string(TOLOWER "${python}" python)
    string(REGEX REPLACE "(^|\n)/// ?" "\\1" doc "${comment}")
    string(STRIP "${doc}" doc)
    string(REPLACE "${name}(" "${python}(" doc "${doc}")
    string(APPEND rows_of_functions "DFC_FORMULA_FUNCTION_${count}(${python}, ${name}, ${operands}, R\"doc(${doc})doc\")\n")
  endforeach()
  set(origin "// The functions of formula ops. Generated from ir/graph/ops/elementwise/formulas by tools/cmake/dfc_rooms.cmake.\n")
  set(generated "${PROJECT_BINARY_DIR}/generated/ir/author")
  file(CONFIGURE OUTPUT "${generated}/formula_functions.h" @ONLY CONTENT "${origin}#pragma once

#include \"ir/author/builder.h\"
#include \"ir/base/visibility.h\"

namespace DFC_PUBLIC dfc {
${declarations}
} // namespace dfc
")
  file(CONFIGURE OUTPUT "${generated}/formula_functions.inc" @ONLY CONTENT "${origin}${definitions}")
  file(CONFIGURE OUTPUT "${generated}/formula_functions.def" @ONLY CONTENT "${origin}${rows_of_functions}")
  target_include_directories(${target} SYSTEM PUBLIC "${PROJECT_BINARY_DIR}/generated")
endfunction()
