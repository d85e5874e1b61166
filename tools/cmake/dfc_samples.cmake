# A numbered lesson is samples/NN_name.cpp or the folder samples/NN_name/; each becomes the executable sample_NN_name
# and the test sample_NN_name (label `sample`), which runs in a folder of its own. samples/data/ is their helper library.

dfc_room_library(dfc_sample_data GLOBS samples/data/*.cpp LINKS dfc_open CLI11::CLI11)

file(GLOB dfc_lessons CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/samples"
     samples/[0-9][0-9]_*.cpp samples/[0-9][0-9]_*/*.cpp)
list(TRANSFORM dfc_lessons REPLACE "(/.*|\\.cpp)$" "")
list(REMOVE_DUPLICATES dfc_lessons)

# Lesson 4 compares its graph file with the graph of lesson 3.
set(dfc_lesson_04_graph_file_also samples/03_figure/graph.cpp)

foreach(lesson IN LISTS dfc_lessons)
  set(target sample_${lesson})
  dfc_executable(${target} GLOBS samples/${lesson}.cpp samples/${lesson}/*.cpp ${dfc_lesson_${lesson}_also}
                 LINKS dfc_sample_data dfc_compiler dfc_runtime)
  if(TARGET dfc)
    add_dependencies(${target} dfc) # a lesson may run the tool
  endif()
  if(NOT DFC_BUILD_TESTS)
    continue()
  endif()
  set(folder "${PROJECT_BINARY_DIR}/samples/${lesson}")
  file(MAKE_DIRECTORY "${folder}")
  add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY "${folder}")
  add_test(NAME ${target}.help COMMAND ${target} --help)
  add_test(NAME ${target}.unknown_flag COMMAND ${target} --no-such-flag)
  set_tests_properties(${target} PROPERTIES LABELS sample TIMEOUT 900)
  set_tests_properties(${target}.unknown_flag PROPERTIES WILL_FAIL TRUE) # the lesson itself is not begun
  set_tests_properties(${target}.help ${target}.unknown_flag PROPERTIES LABELS sample TIMEOUT 20)
endforeach()
