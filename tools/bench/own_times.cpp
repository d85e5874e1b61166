#include "tools/bench/own_times.h"

#include "compiler/lower/lower_op.h"
#include "ir/plan/executable_parts.h"
#include "runtime/open_devices.h"
#include "tools/dfc/link_times.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dfc::bench {
bool OwnTimes::learn(const Executable& plan, const SessionOptions& options) {
  bool learned = false;
  std::set<std::string> models;
  std::map<DeviceKind, uint32_t> ordinals;
  for (const DeviceRow& row : plan.machine().devices) {
    const DeviceRequest device{row, ordinals[row.kind]++};
    Backend* backend = backendFor(row.kind, choiceOf(options));
    if (backend != nullptr && !row.model.empty() && models.insert(row.model).second) {
      learned = learn(plan, device, *backend) || learned;
    }
  }
  if (!std::exchange(timedLinks_, true)) {
    const Machine& machine = plan.machine();
    const auto isHere = [&](DeviceId device) { return models.contains(machine.devices[device].model); };
    learned = !tool::timeLinks(machine, options, isHere, tables_).empty() || learned;
  }
  return learned;
}

bool OwnTimes::learn(const Executable& plan, const DeviceRequest& device, Backend& backend) {
  Calibration& table = tableOf(device.row.model);
  std::vector<OpId> ops;
  std::set<std::string> seen;
  for (const StepRow& step : plan.schedule().steps) {
    if (!isMeasured(plan.graph()[step.op].kind()) || !backend.hasKernel(plan.graph(), step.op)) {
      continue;
    }
    const std::string signature = signatureOf(plan.graph(), step.op);
    if (table.find(signature) == nullptr && seen.insert(signature).second) {
      ops.push_back(step.op);
    }
  }
  auto measured = ops.empty() ? std::vector<CalibratedOp>()
                              : backend.calibrate(plan.graph(), ops, table, device, opLowering());
  const bool learned = !measured.empty();
  table.keep(std::move(measured));
  return learned;
}

Calibration& OwnTimes::tableOf(const std::string& model) {
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [&](const Calibration& table) { return table.device == model; });
  if (found != tables_.end()) {
    return *found;
  }
  Calibration& table = tables_.emplace_back();
  table.device = model;
  return table;
}

} // namespace dfc::bench
