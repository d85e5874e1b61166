// The file of results: a JSON array with an object for each run that has the newest measurement of some row,
// the newest run last.
#include "ir/base/atomic_file.h"
#include "tools/bench/bench.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

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

/// An object with an array "rows" of objects.
bool isRun(const Json& run) {
  const auto rows = run.is_object() ? run.find("rows") : run.end();
  return rows != run.end() && rows->is_array() &&
         std::all_of(rows->begin(), rows->end(), [](const Json& row) { return row.is_object(); });
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
  if (!results.is_array() || !std::all_of(results.begin(), results.end(), isRun)) {
    return noResults(path);
  }
  return results;
}

/// The GPUs that were used: ": cuda, NVIDIA H200 (sm_90)" of "gpu0: cuda, NVIDIA H200 (sm_90)".
std::set<std::string> gpusUsed(const Json& run) {
  std::set<std::string> names;
  for (const Json& device : run.value("devices", Json::array())) {
    const std::string text = device.is_string() ? device.get<std::string>() : "";
    if (!text.ends_with(": not used") && !text.ends_with(": cpu")) {
      names.insert(text.substr(std::min(text.size(), text.find(": "))));
    }
  }
  return names;
}

bool sameHost(const Json& a, const Json& b) {
  const auto equal = [&](const char* name) { return a.value(name, Json()) == b.value(name, Json()); };
  return equal("cpu") && equal("threads") && equal("gpus") && equal("quick") && gpusUsed(a) == gpusUsed(b);
}

/// A row without time and checks: its work could not be done.
bool isMeasured(const Json& row) {
  return row.contains("seconds") || !row.value("checks", Json::array()).empty();
}

bool supersedes(const Json& newer, const Json& older) {
  const auto equal = [&](const char* name) { return newer.value(name, Json()) == older.value(name, Json()); };
  return equal("key") && (!isMeasured(older) || (isMeasured(newer) && equal("program")));
}

void removeSuperseded(const Json& newer, Json& older) {
  Json rows = Json::array();
  for (const Json& row : older.at("rows")) {
    const auto& fresh = newer.at("rows");
    if (std::none_of(fresh.begin(), fresh.end(), [&](const Json& other) { return supersedes(other, row); })) {
      rows.push_back(row);
    }
  }
  older.at("rows") = std::move(rows);
}

} // namespace

Status checkResults(const std::string& path) {
  if (const auto results = resultsIn(path); !results) {
    return results.errors();
  }
  return success();
}

Status mergeResult(const std::string& path, const std::string& result) {
  auto results = resultsIn(path);
  if (!results) {
    return results.errors();
  }
  Json merged = Json::array();
  const Json newest = Json::parse(result);
  for (Json& run : *results) {
    if (sameHost(run, newest)) {
      removeSuperseded(newest, run);
    }
    if (!run["rows"].empty()) {
      merged.push_back(std::move(run));
    }
  }
  merged.push_back(newest);
  return writeFileAtomically(path, merged.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace dfc::bench
