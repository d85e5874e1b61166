#include "ir/graph/micro_batch.h"

#include <fmt/format.h>

#include <charconv>

namespace dfc {
namespace {

constexpr std::string_view prefix = "batch ";
constexpr uint32_t mostParts = 1 << 20; // so that no scope of an author's makes a long table

} // namespace

std::string microBatchScope(size_t part, std::string_view scope) {
  return scope.empty() ? fmt::format("{}{}", prefix, part) : fmt::format("{}{}/{}", prefix, part, scope);
}

std::optional<uint32_t> microBatchOf(std::string_view scope) {
  if (scope.substr(0, prefix.size()) != prefix) {
    return std::nullopt;
  }
  const std::string_view rest = scope.substr(prefix.size());
  uint32_t part = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), part);
  const bool ends = end == rest.data() + rest.size() || *end == '/';
  return error == std::errc() && ends && part < mostParts ? std::optional(part) : std::nullopt;
}

} // namespace dfc
