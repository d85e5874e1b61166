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

# Lesson 6 beside its usual sizes: odd ones, a mistake and its way out, and GPT-2's as a plan that is not run.
function(dfc_gpt_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SAYS" "FLAGS")
  add_test(NAME sample_06_gpt.${name} COMMAND sample_06_gpt ${arg_FLAGS})
  set_tests_properties(sample_06_gpt.${name} PROPERTIES LABELS sample TIMEOUT 300)
  if(arg_SAYS) # then its exit status is not looked at
    set_tests_properties(sample_06_gpt.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_SAYS}")
  endif()
endfunction()
if(DFC_BUILD_TESTS AND TARGET sample_06_gpt)
  dfc_gpt_test(odd_sizes FLAGS --layers 1 --heads 3 --width 51 --batch 1 --context 33 --steps 3 --sample 50)
  dfc_gpt_test(on_gpus FLAGS --machine cpu-2gpu --policy heft --precision tf32 --batch 4 --steps 3 --sample 5)
  dfc_gpt_test(uneven_heads FLAGS --heads 3 SAYS "no multiple of 3 heads.*--width 63 or 66")
  dfc_gpt_test(no_text FLAGS --text /no/such/text SAYS "there is no text.*--text FILE")
  dfc_gpt_test(124M_as_a_plan FLAGS --size 124M --steps 0 --machine cpu-2gpu)
endif()
