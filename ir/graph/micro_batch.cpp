#include "ir/graph/micro_batch.h"

#include <fmt/format.h>

#include <charconv>

namespace dfc {
namespace {

constexpr std::string_view prefix = "batch ";
constexpr uint32_t mostMicroBatches = 1 << 20; // bounds tables by number; an author's scope may have any

} // namespace

std::string microBatchScope(size_t number, std::string_view scope) {
  return scope.empty() ? fmt::format("{}{}", prefix, number) : fmt::format("{}{}/{}", prefix, number, scope);
}

std::optional<uint32_t> microBatchOf(std::string_view scope) {
  if (scope.substr(0, prefix.size()) != prefix) {
    return std::nullopt;
  }
  const std::string_view rest = scope.substr(prefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const bool ends = end == rest.data() + rest.size() || *end == '/';
  return error == std::errc() && ends && number < mostMicroBatches ? std::optional(number) : std::nullopt;
}

std::string_view scopeInMicroBatch(std::string_view scope) {
  if (!microBatchOf(scope)) {
    return scope;
  }
  const size_t end = scope.find('/');
  return end == std::string_view::npos ? std::string_view() : scope.substr(end + 1);
}

} // namespace dfc
