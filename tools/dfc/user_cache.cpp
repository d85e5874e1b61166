#include "tools/dfc/user_cache.h"

#include <fmt/format.h>

#include <cstdlib>

namespace dfc::tool {
namespace {

/// The variable's value where that is an absolute path, else "".
std::string folderIn(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

} // namespace

std::string userCacheFolder(std::string_view name) {
  if (const std::string cache = folderIn("XDG_CACHE_HOME"); !cache.empty()) {
    return fmt::format("{}/dfc/{}", cache, name);
  }
  const std::string home = folderIn("HOME");
  return home.empty() ? "" : fmt::format("{}/.cache/dfc/{}", home, name);
}

} // namespace dfc::tool
