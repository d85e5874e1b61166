# Writes HEADER with the version of the checkout SOURCE: `git describe`, or RELEASE where there is no git. A header that
# says the same already keeps its time.

cmake_minimum_required(VERSION 3.25)
set(version "${RELEASE}")
execute_process(COMMAND git -c "safe.directory=${SOURCE}" -C "${SOURCE}" describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(NOT failed)
  set(version "${RELEASE}-${described}")
endif()
file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#define DFC_GIT_VERSION \"@version@\"\n" @ONLY)
