// A report as JSON. Unknown values are left out rather than null.
#include "ir/base/assert.h"
#include "ir/graph/graph.h"
#include "tools/bench/names.h"
#include "tools/bench/report.h"

#include <nlohmann/json.hpp>

namespace dfc::bench {
namespace {

using Json = nlohmann::ordered_json;

Json jsonOf(const Check& check) {
  Json object{{"against", check.against}, {"ratio", check.ratio}};
  if (check.atMost) {
    object["atMost"] = *check.atMost;
  }
  if (check.atLeast) {
    object["atLeast"] = *check.atLeast;
  }
  if (const auto holds = check.holds()) {
    object["holds"] = *holds;
  }
  return object;
}

void put(const char* name, const std::optional<double>& value, Json& object) {
  if (value) {
    object[name] = *value;
  }
}

Json jsonOf(const Row& row) {
  Json object{{"key", row.key}};
  if (const std::string_view book = bookNumberOf(row.key); !book.empty()) {
    object["book"] = book;
  }
  object["program"] = row.program;
  object["description"] = row.description;
  if (row.time) {
    object["seconds"] = row.time->median;
    object["least"] = row.time->least;
    object["most"] = row.time->most;
    object["samples"] = row.time->samples;
  }
  put("predicted", row.predicted, object);
  put("bound", row.bound, object);
  put("bytes", row.bytes, object);
  if (!row.reason.empty()) {
    object[row.time ? "note" : row.failed ? "failure" : "notMeasured"] = row.reason;
  }
  object["checks"] = Json::array();
  for (const Check& check : row.checks) {
    object["checks"].push_back(jsonOf(check));
  }
  object["notes"] = row.notes;
  return object;
}

const char* nameOf(Gpus gpus) {
  switch (gpus) {
  case Gpus::None: return "none";
  case Gpus::Emulated: return "emulated";
  case Gpus::Real: return "real";
  }
  DFC_UNREACHABLE("gpus");
}

} // namespace

std::string reportJson(const Report& report, const Setting& setting) {
  Json object{{"date", setting.host.date},     {"git", setting.host.version},
              {"cpu", setting.host.cpu},       {"threads", setting.host.threads},
              {"driver", setting.host.driver}, {"cuda", setting.host.cuda},
              {"machine", setting.machine},    {"devices", setting.devices},
              {"gpus", nameOf(setting.gpus)},  {"quick", setting.quick}};
  object["rows"] = Json::array();
  for (const Row& row : report.rows()) {
    object["rows"].push_back(jsonOf(row));
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace dfc::bench
