# The Python module: dfc/_core of nanobind, beside the package's Python files, as `import dfc` finds them with
# PYTHONPATH=<build>/python; and the install component `python`, of which pip makes a wheel (tools/python).
# DFC_PYTHON=AUTO builds it where its environment is (tools/python/make_venv), ON insists, OFF leaves it out.

set(DFC_PYTHON AUTO CACHE STRING "Build the Python module: AUTO (where its environment is), ON or OFF")
set(dfc_python_venv "${PROJECT_SOURCE_DIR}/build/python-venv/bin/python")
if(NOT Python_EXECUTABLE AND EXISTS "${dfc_python_venv}")
  set(Python_EXECUTABLE "${dfc_python_venv}" CACHE FILEPATH "The interpreter that the Python module is for")
endif()
set(dfc_why_no_python "")
if(DFC_SANITIZE OR DFC_FUZZ)
  set(dfc_why_no_python "the interpreter is not built with the sanitizers")
elseif(NOT Python_EXECUTABLE OR NOT EXISTS "${Python_EXECUTABLE}")
  set(dfc_why_no_python "tools/python/make_venv makes its environment")
else()
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                  OUTPUT_VARIABLE dfc_nanobind OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT dfc_nanobind)
    set(dfc_why_no_python "${Python_EXECUTABLE} has no nanobind; tools/python/make_venv makes an environment")
  endif()
endif()
if(DFC_PYTHON STREQUAL "OFF")
  return()
elseif(dfc_why_no_python)
  if(DFC_PYTHON STREQUAL "AUTO")
    message(STATUS "dfc: no Python module: ${dfc_why_no_python}")
    return()
  endif()
  message(FATAL_ERROR "DFC_PYTHON=ON: ${dfc_why_no_python}")
endif()

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
find_package(nanobind CONFIG REQUIRED HINTS "${dfc_nanobind}")
dfc_sources(sources GLOBS tools/python/module/*.cpp tools/python/module/arrays/*.cpp tools/python/module/planning/*.cpp tools/python/module/session/*.cpp tools/python/module/training/*.cpp)
nanobind_add_module(dfc_python NB_STATIC NOMINSIZE NOSTRIP NB_SUPPRESS_WARNINGS ${sources} tools/dfc/explanation_json.cpp)
target_link_libraries(dfc_python PRIVATE dfc_flags dfc_open dfc_compiler_explain dfc_compiler dfc_runtime Python::NumPy)
target_link_options(dfc_python PRIVATE LINKER:--exclude-libs,ALL) # another copy of dfc may be in the process
set(DFC_PYTHON_DIR "${PROJECT_BINARY_DIR}/python")
set_target_properties(dfc_python PROPERTIES OUTPUT_NAME _core
  LIBRARY_OUTPUT_DIRECTORY "${DFC_PYTHON_DIR}/dfc" BUILD_RPATH "${DFC_BIN_DIR}" INSTALL_RPATH "$ORIGIN")
add_dependencies(dfc_python dfc_modules)

# The package's files, linked into the build folder; machine files go by name in it.
file(GLOB dfc_python_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/python/dfc/*")
list(FILTER dfc_python_files EXCLUDE REGEX "__pycache__")
file(MAKE_DIRECTORY "${DFC_PYTHON_DIR}/dfc")
foreach(file IN LISTS dfc_python_files)
  cmake_path(GET file FILENAME name)
  file(CREATE_LINK "${file}" "${DFC_PYTHON_DIR}/dfc/${name}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/samples/machines" "${DFC_PYTHON_DIR}/dfc/machines" SYMBOLIC)

# What a wheel holds beside the Python files: the module and dfc's own modules, which are looked for beside the file that
# holds the library (runtime/modules.h). tools/python/make_wheel adds the libraries that a bare host lacks.
set(dfc_python_parts dfc_python)
foreach(module dfc_onednn dfc_cuda)
  if(TARGET ${module})
    list(APPEND dfc_python_parts ${module})
  endif()
endforeach()
install(TARGETS ${dfc_python_parts} LIBRARY DESTINATION dfc COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY samples/machines DESTINATION dfc COMPONENT python EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.json")
