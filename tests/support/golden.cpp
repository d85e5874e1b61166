// See golden.h. The comparison is by bytes; the report shows the first line that differs, both ways.
#include "tests/support/golden.h"

#include "runtime/executable_folder.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace dfc::test {
namespace {

bool blessing() {
  const char* wish = std::getenv("DFC_BLESS");
  return wish != nullptr && std::string(wish) != "" && std::string(wish) != "0";
}

void bless(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  REQUIRE(out.flush().good());
}

std::string lineAt(const std::string& text, size_t position) {
  const size_t before = position == 0 ? std::string::npos : text.rfind('\n', position - 1);
  const size_t first = before == std::string::npos ? 0 : before + 1;
  return text.substr(first, std::min(text.find('\n', first), text.size()) - first);
}

std::string firstDifference(const std::string& expected, const std::string& actual) {
  const auto limit = std::min(expected.size(), actual.size());
  const auto end = expected.begin() + static_cast<std::ptrdiff_t>(limit);
  const auto same =
      static_cast<size_t>(std::mismatch(expected.begin(), end, actual.begin()).first - expected.begin());
  const auto line =
      std::count(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(same), '\n') + 1;
  std::ostringstream report;
  report << "line " << line << " differs\n  expected: " << lineAt(expected, same)
         << "\n  actual:   " << lineAt(actual, same) << "\nwhole text:\n"
         << actual;
  return report.str();
}

} // namespace

void checkAgainstFile(const std::filesystem::path& path, const std::string& actual) {
  if (blessing()) {
    bless(path, actual);
    return;
  }
  INFO("golden file " << path.string() << " (if the new text is right: run again with DFC_BLESS=1)");
  REQUIRE(std::filesystem::exists(path));
  const std::string expected = readText(path);
  if (expected == actual) {
    SUCCEED();
  } else {
    FAIL_CHECK(firstDifference(expected, actual));
  }
}

void checkGolden(const std::string& name, const std::string& actual) {
  checkAgainstFile(shippedFile("tests/golden/" + name), actual);
}

std::string readText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  INFO("reading " << path.string());
  REQUIRE(in.good());
  return std::move(text).str();
}

std::vector<std::filesystem::path> filesIn(const std::filesystem::path& folder, const std::string& ending) {
  INFO("folder " << folder.string());
  REQUIRE(std::filesystem::is_directory(folder));
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.size() >= ending.size() &&
        name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace dfc::test
