// Where modules are looked for, as a missing one is told.
#include "runtime/executable_folder.h"
#include "runtime/modules.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <filesystem>

namespace dfc::test {

TEST_CASE("modules: of a missing one every folder is named, the loader's too, and where it belongs") {
  const FoundModule found = findModule("libdfc_missing.so", "symbol");
  CHECK(found.symbol == nullptr);
  CHECK_FALSE(found.present);
  CHECK_THAT(found.reasons, startingWith("\n  there is no libdfc_missing.so in "));
  CHECK_THAT(found.reasons, containing(executableFolder().string() + ", "));
  CHECK_THAT(found.reasons, containing("/usr/lib")); // where the loader looks last
  CHECK(std::filesystem::is_directory(found.home));
}

TEST_CASE("modules: a file that is none is told with the loader's reason") {
  const FoundModule found = findModule("tests_runtime", "symbol"); // a program, beside this very one
  CHECK(found.present);
  CHECK(found.home.empty());
  CHECK_THAT(found.reasons, containing("tests_runtime: cannot"));
}

} // namespace dfc::test
