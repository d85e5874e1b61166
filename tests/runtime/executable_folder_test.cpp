// The program finds itself, and what came with it.
#include "runtime/executable_folder.h"

#include "tests/support/catch.h"

TEST_CASE("the folder of the running executable") {
  CHECK(std::filesystem::equivalent(dfc::executableFolder() / "tests_runtime", "/proc/self/exe"));
}

TEST_CASE("files that came with dfc are found from where the executable lies") {
  CHECK(std::filesystem::is_regular_file(dfc::shippedFile("samples/machines/cpu.json")));
  CHECK(std::filesystem::is_directory(dfc::shippedFile("tests/golden")));
  const auto absent = dfc::shippedFile("samples/no/such/file");
  CHECK(absent.is_absolute());
  CHECK_FALSE(std::filesystem::exists(absent));
}
