// The program finds itself: the folder named is the one that CMake put this executable into.
#include "runtime/executable_folder.h"

#include "tests/support/catch.h"

TEST_CASE("the folder of the running executable") {
  REQUIRE(std::filesystem::equivalent(dfc::executableFolder(), DFC_BINARY_DIR "/bin"));
}
