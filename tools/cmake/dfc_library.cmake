# The library that programs link: one target, dfc::dfc, of all rooms; its public headers; its package for CMake and
# pkg-config. Static by default, shared with BUILD_SHARED_LIBS.

dfc_room_library(dfc_open GLOBS tools/library/*.cpp LINKS dfc_compiler dfc_runtime)

# --- Public headers, flat in <dfc/…>. `FILE=NAME` where the name differs. They include the standard library and one another.
set(dfc_public_headers
  tools/library/dfc.h tools/library/open.h tools/library/host_machine.h tools/library/onnx.h
  ir/base/visibility.h ir/base/assert.h ir/base/diagnostic.h ir/base/half.h ir/base/ids.h ir/base/table.h
  ir/graph/tensor_type.h ir/graph/literal.h ir/graph/graph_class.h=graph.h ir/graph/initialiser.h ir/graph/custom_function.h ir/graph/op_options.h
  ir/author/builder.h ir/author/custom.h ir/author/dsl.h ir/author/formula_functions.h ir/author/composites.h ir/author/losses.h ir/author/kv_cache.h ir/author/quantized.h ir/author/optimizers.h ir/author/schedules.h ir/author/layers.h ir/author/loss_scaling.h
  ir/author/collectives.h
  ir/author/gradients.h ir/author/text/parse.h=parse.h ir/author/text/print.h=print.h
  ir/machine/machine.h ir/machine/calibration.h ir/plan/executable.h ir/plan/trace.h ir/draw/dot.h
  compiler/compile.h compiler/cost/cost_model.h compiler/cost/calibrated_cost_model.h compiler/place/pin_rule.h compiler/split/split_wish.h
  compiler/simulate/simulate.h
  runtime/session.h runtime/predict/predict.h runtime/custom/custom_library.h runtime/custom/dfc_custom.h runtime/backend_options.h runtime/checkpoint.h runtime/errors.h
  runtime/files/idx.h runtime/files/npy.h runtime/files/npz.h runtime/files/safetensors.h runtime/files/csv.h
  runtime/data/batches.h runtime/data/fashion_mnist.h runtime/data/shuffle.h
  runtime/weights/rename_rules.h runtime/weights/load_weights.h runtime/data/array_source.h runtime/training/trainer.h runtime/training/training_state.h runtime/training/training_log.h ir/draw/learning_curve.h)

set(DFC_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
foreach(row IN LISTS dfc_public_headers)
  string(REGEX REPLACE "=.*" "" file "${row}")
  string(REGEX REPLACE ".*[/=]" "" name "${row}")
  list(APPEND dfc_public_files "${file}")
  list(APPEND dfc_public_names "${name}")
endforeach()
foreach(file name IN ZIP_LISTS dfc_public_files dfc_public_names)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
  else()
    file(READ "${PROJECT_BINARY_DIR}/generated/${file}" text) # a header that CMake generates
  endif()
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
  string(REGEX REPLACE "@cond INTERNAL[^@]*@endcond" "" seen "${text}") # comments name no header that is not installed
  if(seen MATCHES "[^a-z](ir|compiler|runtime|tools|place)/[a-z_/]+[.](h|def|cpp)")
    message(FATAL_ERROR "${file} is a public header and names ${CMAKE_MATCH_0}: name <dfc/…> or the function")
  endif()
  if(text MATCHES "^// ") # the opening comment describes the file, in the reference too
    string(REGEX MATCH "^(//[^\n]*\n)+" opening "${text}")
    string(LENGTH "${opening}" length)
    string(SUBSTRING "${text}" ${length} -1 text)
    string(REGEX REPLACE "(^|\n)//" "\\1///" opening "${opening}")
    string(PREPEND text "/// @file\n${opening}")
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

# LLVM's containers are no package that users of a static libdfc.a should need: their objects go into it.
if(BUILD_SHARED_LIBS)
  target_link_options(dfc_library PRIVATE LINKER:--exclude-libs,ALL)
else()
  add_custom_command(TARGET dfc_library POST_BUILD
    COMMAND "${CMAKE_COMMAND}" "-DAR=${CMAKE_AR}" "-DLIBRARY=$<TARGET_FILE:dfc_library>"
            "-DOTHERS=$<TARGET_FILE:LLVMSupport>,$<TARGET_FILE:LLVMDemangle>"
            -P "${PROJECT_SOURCE_DIR}/tools/cmake/dfc_merge_archives.cmake" VERBATIM)
endif()

# --- The package. Consumers of a static library link these too, by name; what LLVMSupport wants depends on its version.
set(dfc_link_names fmt zip z hwy)
get_target_property(dfc_llvm_links LLVMSupport INTERFACE_LINK_LIBRARIES)
if(dfc_llvm_links MATCHES "[Tt]erminfo|tinfo")
  list(APPEND dfc_link_names tinfo)
endif()
if(dfc_llvm_links MATCHES "zstd")
  list(APPEND dfc_link_names zstd)
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(DFC_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/dfc")
set(DFC_MODULE_DIR "lib/dfc") # as dfc_bundle.cmake installs them
if(BUILD_SHARED_LIBS)
  set(DFC_LIBRARY_KIND SHARED)
  set(dfc_link_names "")
else()
  set(DFC_LIBRARY_KIND STATIC)
endif()
set(DFC_LIBRARY_FILE "$<TARGET_FILE_NAME:dfc_library>")
configure_package_config_file(tools/cmake/dfc-config.cmake.in "${PROJECT_BINARY_DIR}/package/dfc-config.cmake.in"
  INSTALL_DESTINATION "${DFC_PACKAGE_DIR}" PATH_VARS DFC_MODULE_DIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/package/dfc-config.cmake" INPUT "${PROJECT_BINARY_DIR}/package/dfc-config.cmake.in")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/dfc-config-version.cmake" COMPATIBILITY SameMinorVersion)
list(TRANSFORM dfc_link_names PREPEND "-l" OUTPUT_VARIABLE dfc_link_flags)
list(JOIN dfc_link_flags " " DFC_LINK_FLAGS)
configure_file(tools/cmake/dfc.pc.in "${PROJECT_BINARY_DIR}/package/dfc.pc" @ONLY)

install(TARGETS dfc_library ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
set_target_properties(dfc_library PROPERTIES INSTALL_RPATH "$ORIGIN/dfc")
install(FILES ${dfc_generated_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/dfc")
install(FILES "${PROJECT_BINARY_DIR}/package/dfc-config.cmake" "${PROJECT_BINARY_DIR}/package/dfc-config-version.cmake"
        DESTINATION "${DFC_PACKAGE_DIR}")
install(FILES "${PROJECT_BINARY_DIR}/package/dfc.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
