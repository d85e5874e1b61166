#include "tools/dfc/calibrations.h"

#include "tools/dfc/all_errors.h"
#include "tools/dfc/link_times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <set>

namespace dfc::tool {
namespace {

bool serves(const Calibration& table, const Machine& machine) {
  return std::any_of(machine.devices.begin(), machine.devices.end(),
                     [&](const DeviceRow& row) { return row.model == table.device; });
}

/// "'A' and 'B'"
std::string devicesOf(const std::vector<Calibration>& tables) {
  std::string text;
  for (const Calibration& table : tables) {
    text += fmt::format("{}'{}'", text.empty() ? "" : " and ", table.device);
  }
  return text;
}

/// "cpu0 is 'A', gpu0 is 'B'", each model once.
std::string modelsOf(const Machine& machine) {
  std::string text;
  std::set<std::string> said;
  for (const DeviceRow& row : machine.devices) {
    if (said.insert(row.model).second) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row.name,
                          row.model.empty() ? "has no model" : fmt::format("is '{}'", row.model));
    }
  }
  return text;
}

Diagnostic ofNoDevice(const std::string& path, const std::vector<Calibration>& tables,
                      const Machine& machine) {
  constexpr const char* hint = "a table is of the model that the machine file says; make one there: dfc "
                               "calibrate GRAPH -m MACHINE -o TABLE.json";
  if (tables.empty()) {
    return {Severity::Error, {path}, "holds no table", hint};
  }
  return {Severity::Error,
          {path},
          fmt::format("this table is of {}; the machine's {}", devicesOf(tables), modelsOf(machine)),
          hint};
}

/// A warning for each model of the machine that no table describes, where another is described.
Diagnostics ofUnmeasuredDevices(const std::vector<Calibration>& tables, const Machine& machine) {
  Diagnostics warnings;
  std::set<std::string> said;
  for (const DeviceRow& row : machine.devices) {
    const bool isMeasured =
        llvm::any_of(tables, [&](const Calibration& table) { return table.device == row.model; });
    if (!tables.empty() && !isMeasured && said.insert(row.model).second) {
      warnings.push_back({Severity::Warning,
                          {},
                          fmt::format("no calibration table describes {}: its times are estimated from its "
                                      "rates, and scaled as the measured devices' are",
                                      row.name),
                          "measure it too: dfc calibrate GRAPH -m MACHINE -o TABLE.json on that machine"});
    }
  }
  return warnings;
}

/// A warning where copies over some of the machine's links were measured and over others not.
Diagnostics ofUnmeasuredLinks(const std::vector<Calibration>& tables, const Machine& machine) {
  const std::vector<std::string> untimed = untimedLinks(machine, tables);
  if (untimed.empty() || untimed.size() == untimedLinks(machine, {}).size()) {
    return {};
  }
  return {{Severity::Warning,
           {},
           fmt::format("no calibration table has copies from {}: all transfers are predicted by the machine "
                       "file, so that measured links do not look slower than others",
                       fmt::join(untimed, ", from ")),
           "measure them, too: dfc calibrate GRAPH -m MACHINE -o TABLE.json on that machine"}};
}

} // namespace

Result<std::vector<Calibration>> calibrationsFor(const std::vector<std::string>& paths,
                                                 const Machine& machine) {
  std::vector<Calibration> all;
  Diagnostics errors;
  for (const std::string& path : paths) {
    auto tables = readCalibrations(path);
    if (!tables) {
      add(errors, tables.errors());
      continue;
    }
    if (llvm::none_of(*tables, [&](const Calibration& table) { return serves(table, machine); })) {
      errors.push_back(ofNoDevice(path, *tables, machine));
    }
    all.insert(all.end(), tables->begin(), tables->end());
  }
  if (!errors.empty()) {
    return errors;
  }
  Diagnostics warnings = ofUnmeasuredDevices(all, machine);
  add(warnings, ofUnmeasuredLinks(all, machine));
  return Result<std::vector<Calibration>>(std::move(all)).withWarnings(warnings);
}

std::vector<Calibration> mergedByModel(const std::vector<Calibration>& tables) {
  std::vector<Calibration> merged;
  for (const Calibration& table : tables) {
    const auto found =
        llvm::find_if(merged, [&](const Calibration& one) { return one.device == table.device; });
    if (found != merged.end()) {
      found->keep(table.ops);
      found->keepCopies(table.copies);
    } else {
      merged.push_back(table);
    }
  }
  return merged;
}

} // namespace dfc::tool
