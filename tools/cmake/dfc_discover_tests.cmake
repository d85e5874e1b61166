# Lists the cases of a Catch2 executable when ctest starts, and adds each as a test. Run through include() from a file that
# dfc_tests.cmake writes, which sets: exe, list (the file to write), prefix, room, major (the version of Catch2).
# Not catch_discover_tests, which in Catch2 2 has no PRE_TEST mode and cannot label by tag.
# A case tagged [heavy] gets the label `heavy` beside the room's.

if(NOT EXISTS "${exe}")
  add_test(${prefix}NOT_BUILT "${exe}")
  return()
endif()

# dfc_add_cases(SPEC LABELS): appends the add_test lines for the cases that match SPEC to `script`.
function(dfc_add_cases spec labels)
  if(major LESS 3)
    set(listing --list-test-names-only)
  else()
    set(listing --list-tests --verbosity quiet)
  endif()
  execute_process(COMMAND "${exe}" ${listing} "${spec}" OUTPUT_VARIABLE names ERROR_VARIABLE names_error
                  RESULT_VARIABLE result)
  if(NOT result MATCHES "^[0-9]+$") # Catch2 2 answers the number of cases, a crash answers words
    message(FATAL_ERROR "${exe} ${listing}: ${result}\n${names}${names_error}")
  endif()
  while(NOT names STREQUAL "") # not a CMake list: names may hold brackets and semicolons
    string(FIND "${names}" "\n" end)
    if(end EQUAL -1)
      string(LENGTH "${names}" end)
    endif()
    string(SUBSTRING "${names}" 0 ${end} name)
    math(EXPR end "${end} + 1")
    string(LENGTH "${names}" length)
    if(end LESS length)
      string(SUBSTRING "${names}" ${end} -1 names)
    else()
      set(names "")
    endif()
    string(STRIP "${name}" name)
    if(NOT name STREQUAL "")
      string(REGEX REPLACE "([],\\[\\\\])" "\\\\\\1" pattern "${name}")
      string(APPEND script
        "add_test([==[${prefix}${name}]==] [==[${exe}]==] [==[${pattern}]==])\n"
        "set_tests_properties([==[${prefix}${name}]==] PROPERTIES LABELS \"${labels}\" TIMEOUT 600)\n")
    endif()
  endwhile()
  set(script "${script}" PARENT_SCOPE)
endfunction()

if("${exe}" IS_NEWER_THAN "${list}")
  set(script "")
  dfc_add_cases("~[heavy]~[.]" "${room}")
  dfc_add_cases("[heavy]" "${room};heavy")
  file(WRITE "${list}" "${script}")
endif()
include("${list}")
