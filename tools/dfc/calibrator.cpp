#include "tools/dfc/calibrator.h"

#include "compiler/lower/lower_op.h"
#include "runtime/cpu/calibrate_host.h"
#include "tools/dfc/run/backend_choice.h"
#include "tools/dfc/run/progress.h"
#include "tools/library/host_machine.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <map>

namespace dfc::tool {
namespace {

/// One op of each signature that the plan's compute steps have, of those that `wanted` holds for.
template <class Wanted>
std::vector<OpId> distinctOps(const Executable& plan, const Wanted& wanted) {
  std::vector<OpId> ops;
  std::set<std::string> seen;
  for (const StepRow& step : plan.schedule().steps) {
    if (wanted(plan.graph()[step.op]) && seen.insert(signatureOf(plan.graph(), step.op)).second) {
      ops.push_back(step.op);
    }
  }
  return ops;
}

/// What really is there in place of the device; "" for nothing.
std::string modelHere(Backend& backend, const DeviceRequest& device) {
  Machine host = estimatedHost();
  if (backend.name() == "cpu") {
    return host.devices[host.host()].model;
  }
  const size_t before = host.devices.size();
  backend.describeHost(host, /*measure=*/false);
  if (host.devices.size() == before) {
    return fmt::format("{} {}", backend.name(), name(device.row.kind)); // plays it
  }
  uint32_t ordinal = 0;
  for (const DeviceRow& row : host.devices) {
    if (row.kind == device.row.kind && ordinal++ == device.ordinal) {
      return row.model;
    }
  }
  return "";
}

std::string whyElsewhere(Backend& backend, const DeviceRequest& device) {
  if (device.row.model.empty()) {
    return "the machine file says no model";
  }
  const std::string here = modelHere(backend, device);
  return here == device.row.model ? ""
         : here.empty()           ? fmt::format("'{}', which this host has not", device.row.model)
                                  : fmt::format("'{}', where this host has '{}'", device.row.model, here);
}

} // namespace

Calibrator::Calibrator(const Executable& plan, SessionOptions options, std::vector<std::string> wanted,
                       std::vector<Calibration> tables)
    : plan_(plan), options_(std::move(options)), wanted_(std::move(wanted)), tables_(std::move(tables)),
      ops_(distinctOps(plan, [](const OpRow& row) { return isMeasured(row.kind()); })),
      customOps_(distinctOps(plan, [&](const OpRow& row) {
        const auto* custom = row.getIf<ops::Custom>();
        return custom != nullptr && options_.customFunctions.contains(custom->function);
      })) {}

void Calibrator::run(const Console& console) {
  const auto& devices = plan_.machine().devices;
  Progress progress(console, "timing", static_cast<int64_t>(devices.size()), "devices");
  std::map<DeviceKind, uint32_t> ordinals;
  int64_t done = 0;
  for (const DeviceRow& row : devices) {
    const DeviceRequest device{row, ordinals[row.kind]++};
    progress.update(done++, row.name);
    if ((wanted_.empty() || llvm::is_contained(wanted_, row.name)) && !known_.contains(row.model)) {
      timed_.push_back(timeOn(device));
    }
  }
  progress.update(done, "links");
  links_ = timeLinks(
      plan_.machine(), options_, [&](DeviceId device) { return isHere(device); }, tables_);
  progress.clear();
}

Timed Calibrator::timeOn(const DeviceRequest& device) {
  Timed timed;
  timed.device = device.row.name;
  timed.model = device.row.model;
  Backend* backend = backendFor(device.row.kind, choiceOf(options_));
  timed.skipped = backend == nullptr ? "no backend can play it here" : whyElsewhere(*backend, device);
  if (!timed.skipped.empty()) {
    return timed;
  }
  known_.insert(device.row.model);
  std::vector<OpId> ops;
  llvm::copy_if(ops_, std::back_inserter(ops),
                [&](OpId op) { return backend->hasKernel(plan_.graph(), op); });
  auto measured = backend->calibrate(plan_.graph(), ops, /*known=*/{}, device, opLowering());
  if (backend->callsFunctions()) {
    const std::vector<OpId> custom = customOpsFor(device.row.kind);
    auto rows = calibrateCustom(plan_.graph(), custom, options_.customFunctions);
    timed.failed = custom.size() - rows.size();
    llvm::append_range(measured, rows);
  }
  if (measured.empty()) {
    timed.skipped = fmt::format("the backend '{}' times none of the ops", backend->name());
    return timed;
  }
  timed.ops = measured.size();
  for (const CalibratedOp& op : measured) {
    timed.seconds += op.seconds;
  }
  tableFor(device.row.model).keep(std::move(measured));
  return timed;
}

std::vector<OpId> Calibrator::customOpsFor(DeviceKind kind) const {
  std::vector<OpId> ops;
  llvm::copy_if(customOps_, std::back_inserter(ops), [&](OpId op) {
    const auto& custom = plan_.graph()[op].as<ops::Custom>();
    return (kind == DeviceKind::Cpu ? custom.cpuSeconds : custom.gpuSeconds) > 0;
  });
  return ops;
}

bool Calibrator::isHere(DeviceId device) const {
  const Machine& machine = plan_.machine();
  const DeviceRow& row = machine.devices[device];
  return known_.contains(row.model) &&
         (wanted_.empty() || device == machine.host() || llvm::is_contained(wanted_, row.name));
}

Calibration& Calibrator::tableFor(const std::string& model) {
  for (Calibration& table : tables_) {
    if (table.device == model) {
      return table;
    }
  }
  tables_.push_back({model, {}});
  return tables_.back();
}

} // namespace dfc::tool
