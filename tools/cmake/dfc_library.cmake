# The library that programs link: one target, dfc::dfc, of all rooms; its public headers; its package for CMake and
# pkg-config. Static by default, shared with BUILD_SHARED_LIBS.

dfc_room_library(dfc_open GLOBS tools/library/*.cpp LINKS dfc_compiler dfc_runtime)

# --- Public headers, flat in <dfc/…>. `FILE=NAME` where the name differs. They include the standard library and one another.
set(dfc_public_headers
  tools/library/dfc.h tools/library/open.h tools/library/host_machine.h
  ir/base/visibility.h ir/base/assert.h ir/base/diagnostic.h ir/base/half.h ir/base/ids.h ir/base/table.h
  ir/graph/tensor_type.h ir/graph/literal.h ir/graph/graph_class.h=graph.h ir/graph/initialiser.h ir/graph/op_options.h
  ir/author/builder.h ir/author/dsl.h ir/author/composites.h ir/author/optimizers.h ir/author/collectives.h
  ir/author/gradients.h ir/author/text/parse.h=parse.h ir/author/text/print.h=print.h
  ir/machine/machine.h ir/machine/calibration.h ir/plan/executable.h ir/plan/trace.h ir/draw/dot.h
  compiler/compile.h compiler/cost/cost_model.h compiler/cost/calibrated_cost_model.h compiler/place/pin_rule.h
  compiler/simulate/simulate.h
  runtime/session.h runtime/backend_options.h runtime/checkpoint.h runtime/errors.h
  runtime/files/idx.h runtime/files/npy.h runtime/files/npz.h runtime/files/safetensors.h
  runtime/data/batches.h runtime/data/fashion_mnist.h runtime/data/shuffle.h)

set(DFC_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
foreach(row IN LISTS dfc_public_headers)
  string(REGEX REPLACE "=.*" "" file "${row}")
  string(REGEX REPLACE ".*[/=]" "" name "${row}")
  list(APPEND dfc_public_files "${file}")
  list(APPEND dfc_public_names "${name}")
endforeach()
foreach(file name IN ZIP_LISTS dfc_public_files dfc_public_names)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  string(REGEX MATCHALL "#include \"[^\"]+\"" includes "${text}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" included "${include}")
    list(FIND dfc_public_files "${included}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${file} is a public header and includes ${included}, which is not: see tools/library/README.md")
    endif()
    list(GET dfc_public_names ${at} public)
    string(REPLACE "${include}" "#include <dfc/${public}>" text "${text}")
  endforeach()
  string(REGEX MATCH "#include <(llvm|fmt|nlohmann|boost)/[^>]*>" foreign "${text}")
  if(foreign)
    message(FATAL_ERROR "${file} is a public header and has ${foreign}: see tools/library/README.md")
  endif()
  file(CONFIGURE OUTPUT "${DFC_INCLUDE_DIR}/dfc/${name}" CONTENT "${text}" @ONLY)
  list(APPEND dfc_generated_headers "${DFC_INCLUDE_DIR}/dfc/${name}")
endforeach()

# --- The library: the objects of every room.
set(dfc_library_rooms dfc_open dfc_compiler dfc_runtime dfc_cpu_loops dfc_executable_folder)
get_property(dfc_rooms GLOBAL PROPERTY DFC_ROOMS)
list(APPEND dfc_library_rooms ${dfc_rooms})
list(REMOVE_DUPLICATES dfc_library_rooms)
foreach(room IN LISTS dfc_library_rooms)
  list(APPEND dfc_objects $<TARGET_OBJECTS:${room}>)
endforeach()
if(BUILD_SHARED_LIBS)
  add_library(dfc_library SHARED ${dfc_objects})
else()
  add_library(dfc_library STATIC ${dfc_objects})
endif()
add_library(dfc::dfc ALIAS dfc_library)
set_target_properties(dfc_library PROPERTIES
  OUTPUT_NAME dfc EXPORT_NAME dfc LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
target_compile_features(dfc_library PUBLIC cxx_std_20)
target_include_directories(dfc_library INTERFACE "$<BUILD_INTERFACE:${DFC_INCLUDE_DIR}>")
set(dfc_foreign fmt::fmt ZLIB::ZLIB dfc_hwy dfc_zip dfc_llvm Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(dfc_library PRIVATE ${dfc_foreign})
target_link_options(dfc_library INTERFACE "$<BUILD_INTERFACE:LINKER:-rpath,${DFC_BIN_DIR}>") # where modules lie: runtime/modules.h
add_dependencies(dfc_library dfc_modules)
