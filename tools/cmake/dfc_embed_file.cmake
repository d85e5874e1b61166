# Writes SOURCE: the text of FILE as a constant of NAMESPACE. See dfc_embed.cmake.
file(READ "${FILE}" text)
string(LENGTH "${text}" length)
if(length GREATER 65000) # what every compiler takes as a string literal
  message(FATAL_ERROR "${FILE} has ${length} characters: divide it")
endif()
cmake_path(GET FILE STEM name)
string(REGEX MATCHALL "[^_]+" words "${name}_text")
list(POP_FRONT words name)
foreach(word IN LISTS words)
  string(SUBSTRING "${word}" 0 1 first)
  string(SUBSTRING "${word}" 1 -1 rest)
  string(TOUPPER "${first}" first)
  string(APPEND name "${first}${rest}")
endforeach()
file(WRITE "${SOURCE}" "#include <string_view>

namespace ${NAMESPACE} {

extern const std::string_view ${name};
const std::string_view ${name} = R\"dfc(${text})dfc\";

} // namespace ${NAMESPACE}
")
