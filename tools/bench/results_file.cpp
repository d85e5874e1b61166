// The file that results are kept in: a JSON array with one object a run, the newest last.
#include "ir/base/atomic_file.h"
#include "tools/bench/bench.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace dfc::bench {
namespace {

using Json = nlohmann::ordered_json;
constexpr uint64_t largestFile = uint64_t(64) << 20;

Diagnostic noResults(const std::string& path) {
  return {Severity::Error,
          {path},
          "holds no JSON array of results, so nothing can be added to it",
          "name another file; dfc makes it"};
}

Result<Json> resultsIn(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Json(Json::array());
  }
  const auto text = readTextFile(path, largestFile);
  if (!text) {
    return text.errors();
  }
  Json results = text->empty() ? Json(Json::array()) : Json::parse(*text, nullptr, false);
  if (!results.is_array()) {
    return noResults(path);
  }
  return results;
}

} // namespace

Status checkResults(const std::string& path) {
  if (const auto results = resultsIn(path); !results) {
    return results.errors();
  }
  return success();
}

Status keepResult(const std::string& path, const std::string& result) {
  auto results = resultsIn(path);
  if (!results) {
    return results.errors();
  }
  results->push_back(Json::parse(result));
  return writeFileAtomically(path, results->dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace dfc::bench
