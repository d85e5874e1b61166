# The reference of the public headers, by Doxygen: cmake --build build/dev --target docs, then build/dev/docs/index.html.
# An undocumented public name, or a documentation error, fails the target and the test `docs`.

find_program(DFC_DOXYGEN doxygen)
if(NOT DFC_DOXYGEN)
  message(STATUS "dfc: no doxygen: the target docs is left out")
  return()
endif()
set(DFC_DOCS_DIR "${PROJECT_BINARY_DIR}/docs")
configure_file(tools/docs/Doxyfile.in "${PROJECT_BINARY_DIR}/Doxyfile" @ONLY)
file(MAKE_DIRECTORY "${DFC_DOCS_DIR}")
add_custom_target(docs COMMAND "${DFC_DOXYGEN}" "${PROJECT_BINARY_DIR}/Doxyfile" VERBATIM
                  COMMENT "the reference: ${DFC_DOCS_DIR}/index.html")
if(DFC_BUILD_TESTS)
  add_test(NAME docs COMMAND "${DFC_DOXYGEN}" "${PROJECT_BINARY_DIR}/Doxyfile")
  set_tests_properties(docs PROPERTIES LABELS style)
endif()
