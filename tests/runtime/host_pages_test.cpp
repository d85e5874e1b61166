// Host memory of its own: whole pages, and huge ones asked for where it is large.
#include "runtime/host_pages.h"

#include "tests/support/catch.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace dfc::testing {
namespace {

/// The kernel's flags of the mapping that an address lies in ("hg": huge pages are asked for); "" where it
/// tells none.
std::string flagsOfMapping(const std::byte* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool isInside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
      isInside = begin <= wanted && wanted < end;
    } else if (isInside && line.starts_with("VmFlags:")) {
      return line + ' ';
    }
  }
  return "";
}

bool systemHasHugePages() {
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string words;
  return std::getline(setting, words) && words.find("[never]") == std::string::npos;
}

struct Pages {
  explicit Pages(int64_t bytes) : begin(allocatePages(bytes)) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { freePages(begin); }
  std::byte* begin;
};

} // namespace

TEST_CASE("host pages: any size is whole pages that can be written") {
  for (const int64_t bytes : {0, 1, 4096, 5000, (2 << 20) - 1, (4 << 20) + 1}) {
    const Pages pages(bytes);
    REQUIRE(pages.begin != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(pages.begin) % 4096 == 0);
    const auto whole = static_cast<size_t>((std::max<int64_t>(bytes, 1) + 4095) / 4096 * 4096);
    std::memset(pages.begin, 1, whole);
    CHECK(pages.begin[whole - 1] == std::byte{1});
  }
  CHECK(Pages(int64_t{1} << 60).begin == nullptr);
}

TEST_CASE("host pages: a large block asks for huge ones") {
  const Pages pages(64 << 20);
  REQUIRE(pages.begin != nullptr);
  const std::string flags = flagsOfMapping(pages.begin + (32 << 20));
  if (flags.empty() || !systemHasHugePages()) {
    DFC_SKIP("this system has no huge pages, or does not tell");
  }
  CHECK(flags.find(" hg ") != std::string::npos);
}

} // namespace dfc::testing
