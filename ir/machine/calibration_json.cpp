// The JSON form of calibration tables, in and out.
#include "ir/base/atomic_file.h"
#include "ir/base/json/json_fields.h"
#include "ir/base/json/json_text.h"
#include "ir/machine/calibration.h"
#include "ir/machine/machine_faults.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

namespace dfc {
namespace {

using Json = nlohmann::json;

constexpr uint64_t largestCalibrationFile = uint64_t{64} << 20;
constexpr size_t calibrationNesting = 8;

class CalibrationReader : private JsonFields {
 public:
  explicit CalibrationReader(JsonDocument& document) : JsonFields(document), document_(document) {}

  std::vector<Calibration> run() {
    const Json& root = document_.root();
    if (!root.is_object()) {
      document_.errorAt("", "a calibration file holds one object", "dfc calibrate writes them");
      return {};
    }
    knownKeys(root, "", {"tables"});
    if (!root.contains("tables")) {
      document_.errorMissing("", "tables", "dfc calibrate writes calibration files");
    }
    eachRow(root, "", "tables", [&](const Json& row, const std::string& path) { readTable(row, path); });
    std::sort(tables_.begin(), tables_.end(),
              [](const Calibration& a, const Calibration& b) { return a.device < b.device; });
    return std::move(tables_);
  }

 private:
  void readTable(const Json& row, const std::string& path) {
    knownKeys(row, path, {"device", "ops", "copies"});
    Calibration table;
    text(row, path, "device", table.device, true);
    const std::string where = join(path, "device");
    if (row.contains("device") && table.device.empty() && !document_.complainedOf(where)) {
      document_.errorAt(where, "a table is of a model of device",
                        "write the model that the machine file has");
    }
    if (!table.device.empty() && tableOf(tables_, table.device) != nullptr) {
      document_.errorAt(where, fmt::format("a second table of '{}'", table.device), "keep one of them");
    }
    if (member(row, path, "ops", true) != nullptr) {
      std::unordered_set<std::string> known;
      eachRow(row, path, "ops",
              [&](const Json& op, const std::string& at) { table.ops.push_back(readOp(op, at, known)); });
    }
    std::sort(table.ops.begin(), table.ops.end(),
              [](const CalibratedOp& a, const CalibratedOp& b) { return a.signature < b.signature; });
    readCopies(row, path, table);
    tables_.push_back(std::move(table));
  }

  void readCopies(const Json& row, const std::string& path, Calibration& table) {
    if (!row.contains("copies")) {
      return;
    }
    std::set<std::pair<std::string, int64_t>> known;
    eachRow(row, path, "copies", [&](const Json& copy, const std::string& at) {
      CalibratedCopy read = readCopy(copy, at);
      if (read.to.empty() || read.bytes <= 0 || read.seconds <= 0) {
        return; // said already
      }
      if (!known.emplace(read.to, read.bytes).second) {
        document_.errorAt(join(at, "bytes"), "the same copy a second time", "keep one of them");
      }
      table.keepCopies({std::move(read)});
    });
  }

  CalibratedCopy readCopy(const Json& row, const std::string& path) {
    knownKeys(row, path, {"to", "bytes", "seconds"});
    CalibratedCopy copy;
    text(row, path, "to", copy.to, true);
    if (member(row, path, "bytes", true) != nullptr) {
      whole(row, path, "bytes", copy.bytes);
    }
    if (row.contains("to") && copy.to.empty() && !document_.complainedOf(join(path, "to"))) {
      document_.errorAt(join(path, "to"), "a copy goes to a model of device",
                        "write the model that the machine file has");
    }
    if (row.contains("bytes") && copy.bytes <= 0 && !document_.complainedOf(join(path, "bytes"))) {
      document_.errorAt(join(path, "bytes"), "a copy is of 1 byte or more");
    }
    copy.seconds = readSeconds(row, path);
    return copy;
  }

  /// 0 after saying that they are no time, or where they are left out.
  double readSeconds(const Json& row, const std::string& path, const char* key = "seconds",
                     bool required = true) {
    double seconds = 0;
    number(row, path, key, seconds, required);
    const bool isTime = seconds > 0 && seconds <= mostSeconds;
    const std::string where = join(path, key);
    if (row.contains(key) && !document_.complainedOf(where) && !isTime) {
      document_.errorAt(where, fmt::format("a time is more than 0 and at most {} seconds", mostSeconds));
    }
    return isTime ? seconds : 0;
  }

  CalibratedOp readOp(const Json& row, const std::string& path, std::unordered_set<std::string>& known) {
    knownKeys(row, path, {"signature", "seconds", "fromMemory", "choice"});
    CalibratedOp op;
    text(row, path, "signature", op.signature, true);
    op.seconds = readSeconds(row, path);
    op.fromMemory = readSeconds(row, path, "fromMemory", /*required=*/false);
    text(row, path, "choice", op.choice);
    const std::string where = join(path, "signature");
    if (row.contains("signature") && !document_.complainedOf(where)) {
      if (!known.insert(op.signature).second) {
        document_.errorAt(where, "the same op a second time", "keep one of them");
      } else if (!opOfSignature(op.signature)) {
        document_.errorAt(where, "no op that a device spends time on has this signature",
                          "dfc calibrate writes signatures: kind(operand types) attributes");
      }
    }
    return op;
  }

  JsonDocument& document_;
  std::vector<Calibration> tables_;
};

std::string printOp(const CalibratedOp& op) {
  const std::string choice = op.choice.empty() ? "" : fmt::format(", \"choice\": {}", jsonQuoted(op.choice));
  const std::string fromMemory =
      op.fromMemory > 0 ? fmt::format(", \"fromMemory\": {}", jsonNumber(op.fromMemory)) : "";
  return fmt::format("    {{\"signature\": {}, \"seconds\": {}{}{}}}", jsonQuoted(op.signature),
                     jsonNumber(op.seconds), fromMemory, choice);
}

std::string printTable(const Calibration& table) {
  std::string rows;
  for (const CalibratedOp& op : table.ops) {
    rows += (rows.empty() ? "\n" : ",\n") + printOp(op);
  }
  std::string copies;
  for (const CalibratedCopy& copy : table.copies) {
    copies +=
        fmt::format("{}    {{\"to\": {}, \"bytes\": {}, \"seconds\": {}}}", copies.empty() ? "\n" : ",\n",
                    jsonQuoted(copy.to), copy.bytes, jsonNumber(copy.seconds));
  }
  return fmt::format("  {{\"device\": {}, \"ops\": [{}]{}}}", jsonQuoted(table.device), rows,
                     copies.empty() ? "" : fmt::format(", \"copies\": [{}]", copies));
}

} // namespace

Result<std::vector<Calibration>> parseCalibrations(std::string_view json, const std::string& fileName) {
  JsonDocument document(json, fileName, calibrationNesting);
  if (!document.readable()) {
    return document.takeErrors();
  }
  auto tables = CalibrationReader(document).run();
  if (!document.clean()) {
    return document.takeErrors();
  }
  return tables;
}

Result<std::vector<Calibration>> readCalibrations(const std::string& path) {
  const Result<std::string> text = readTextFile(path, largestCalibrationFile);
  if (!text.ok()) {
    return text.errors();
  }
  return parseCalibrations(*text, path);
}

std::string printCalibrations(const std::vector<Calibration>& tables) {
  std::string text;
  for (const Calibration& table : tables) {
    text += (text.empty() ? "\n" : ",\n") + printTable(table);
  }
  return fmt::format("{{\"tables\": [{}\n]}}\n", text);
}

} // namespace dfc
