# A numbered lesson is samples/NN_name.cpp or the folder samples/NN_name/; each becomes the executable sample_NN_name
# and the test sample_NN_name (label `sample`), which runs in a folder of its own. samples/data/ is their helper library.

dfc_room_library(dfc_sample_data GLOBS samples/data/*.cpp LINKS dfc_open CLI11::CLI11)

file(GLOB dfc_lessons CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/samples"
     samples/[0-9][0-9]_*.cpp samples/[0-9][0-9]_*/*.cpp)
list(TRANSFORM dfc_lessons REPLACE "(/.*|\\.cpp)$" "")
list(REMOVE_DUPLICATES dfc_lessons)

# Lesson 4 compares its graph file with the graph of lesson 3.
set(dfc_lesson_04_graph_file_also samples/03_figure/graph.cpp)
# Lesson 8 trains the model of lesson 6.
set(dfc_lesson_08_many_devices_also samples/06_gpt/gpt.cpp samples/06_gpt/text.cpp samples/06_gpt/train.cpp)
# By default shorter than as it is told; the whole lesson is `heavy`: ctest --test-dir build/dev -R whole_lesson
set(dfc_lesson_02_train_mlp_short --epochs 3)
set(dfc_lesson_03_figure_short --epochs 4)
set(dfc_lesson_07_resnet_short --steps 100)

foreach(lesson IN LISTS dfc_lessons)
  set(target sample_${lesson})
  dfc_executable(${target} GLOBS samples/${lesson}.cpp samples/${lesson}/*.cpp ${dfc_lesson_${lesson}_also}
                 LINKS dfc_sample_data dfc_compiler_explain dfc_compiler dfc_runtime)
  if(TARGET dfc)
    add_dependencies(${target} dfc) # a lesson may run the tool
  endif()
  if(NOT DFC_BUILD_TESTS)
    continue()
  endif()
  set(folder "${PROJECT_BINARY_DIR}/samples/${lesson}")
  file(MAKE_DIRECTORY "${folder}")
  set(short ${dfc_lesson_${lesson}_short})
  add_test(NAME ${target} COMMAND ${target} ${short} WORKING_DIRECTORY "${folder}")
  if(short)
    add_test(NAME ${target}.whole_lesson COMMAND ${target} WORKING_DIRECTORY "${folder}")
    set_tests_properties(${target}.whole_lesson PROPERTIES LABELS "sample;heavy" TIMEOUT 900 RESOURCE_LOCK ${target})
  endif()
  add_test(NAME ${target}.help COMMAND ${target} --help)
  add_test(NAME ${target}.unknown_flag COMMAND ${target} --no-such-flag)
  set_tests_properties(${target} PROPERTIES LABELS sample TIMEOUT 900 RESOURCE_LOCK ${target})
  set_tests_properties(${target}.unknown_flag PROPERTIES WILL_FAIL TRUE) # the lesson itself is not begun
  set_tests_properties(${target}.help ${target}.unknown_flag PROPERTIES LABELS sample TIMEOUT 20)
endforeach()

# Lessons 6 and 7 beside their usual sizes: odd ones, a mistake and its way out, and large ones as plans that are not run.
function(dfc_lesson_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SAYS" "FLAGS")
  string(REGEX REPLACE "\\..*" "" lesson ${name})
  add_test(NAME ${name} COMMAND ${lesson} ${arg_FLAGS})
  set_tests_properties(${name} PROPERTIES LABELS sample TIMEOUT 300)
  if(arg_SAYS) # then its exit status is not looked at
    set_tests_properties(${name} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_SAYS}")
  endif()
endfunction()
if(DFC_BUILD_TESTS AND TARGET sample_06_gpt)
  dfc_lesson_test(sample_06_gpt.odd_sizes
                  FLAGS --layers 1 --heads 3 --width 51 --batch 1 --context 33 --steps 3 --sample 50)
  dfc_lesson_test(sample_06_gpt.on_gpus
                  FLAGS --machine cpu-2gpu --policy heft --precision tf32 --batch 4 --steps 3 --sample 5)
  dfc_lesson_test(sample_06_gpt.uneven_heads FLAGS --heads 3 SAYS "no multiple of 3 heads.*--width 63 or 66")
  dfc_lesson_test(sample_06_gpt.no_text FLAGS --text /no/such/text SAYS "there is no text.*--text FILE")
  dfc_lesson_test(sample_06_gpt.124M_as_a_plan FLAGS --size 124M --steps 0 --machine cpu-2gpu)
endif()
if(DFC_BUILD_TESTS AND TARGET sample_07_resnet)
  dfc_lesson_test(sample_07_resnet.odd_sizes
                  FLAGS --depth 50 --image 67 --width 5 --channels 2 --classes 7 --batch 3 --steps 3)
  dfc_lesson_test(sample_07_resnet.on_gpus
                  FLAGS --machine cpu-2gpu --policy heft --precision bf16 --width 4 --batch 8 --steps 3)
  dfc_lesson_test(sample_07_resnet.one_element FLAGS --image 8 --batch 1 SAYS "no variance.*--batch 2 or more")
  dfc_lesson_test(sample_07_resnet.50_as_a_plan FLAGS --depth 50 --image 224 --batch 8 --steps 0 --machine cpu-2gpu)
endif()
