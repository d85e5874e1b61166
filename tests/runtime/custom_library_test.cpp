// Libraries of custom functions that cannot be opened. tests/tools/cli_custom_test.cpp opens one that can.
#include "runtime/custom/custom_library.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

using namespace dfc;

TEST_CASE("custom library: a file that is none is an error with the way out") {
  for (const std::string file :
       {"", "no/such/library.so", "libm.so.6"}) { // the last one exports other functions
    INFO(file);
    const auto functions = openCustomLibrary(file);
    REQUIRE(functions.errors().size() == 1);
    CHECK_THAT(functions.errors()[0].message,
               test::containing("cannot open '" + file + "' as a library of custom functions: "));
    CHECK_THAT(functions.errors()[0].hint, test::containing("dfc_custom_library"));
  }
}
