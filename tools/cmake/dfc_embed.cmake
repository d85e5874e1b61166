# dfc_embed_texts(TARGET NAMESPACE files...): text files as constants of a library. The file folder/some_name.cuh becomes
# `extern const std::string_view someNameText` of NAMESPACE, in a source of the build tree that follows the file.

function(dfc_embed_texts target namespace)
  set(script "${PROJECT_SOURCE_DIR}/tools/cmake/dfc_embed_file.cmake")
  foreach(file IN LISTS ARGN)
    cmake_path(REMOVE_EXTENSION file OUTPUT_VARIABLE stem)
    set(source "${PROJECT_BINARY_DIR}/generated/${stem}_text.cpp")
    add_custom_command(OUTPUT "${source}"
      COMMAND "${CMAKE_COMMAND}" "-DFILE=${PROJECT_SOURCE_DIR}/${file}" "-DSOURCE=${source}" "-DNAMESPACE=${namespace}"
              -P "${script}"
      DEPENDS "${file}" "${script}" COMMENT "embedding ${file}" VERBATIM)
    target_sources(${target} PRIVATE "${source}")
  endforeach()
endfunction()
