#include "compiler/place/runnable.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <cmath>
#include <optional>

namespace dfc {
namespace {

bool runsIn(const Graph& graph, OpId op) {
  const OpKind kind = graph[op].kind();
  return kind != OpKind::Parameter && kind != OpKind::Constant;
}

bool canRun(const PlacementProblem& problem, OpId op, DeviceId device) {
  return std::isfinite(problem.cost.opSeconds(problem.graph, op, problem.machine, device));
}

/// The kind of device that a custom op has no seconds for; none where it has both.
std::optional<DeviceKind> kindWithoutSeconds(const OpRow& row) {
  const auto* custom = row.getIf<ops::Custom>();
  return custom == nullptr || (custom->cpuSeconds > 0 && custom->gpuSeconds > 0) ? std::nullopt
         : custom->cpuSeconds > 0 ? std::optional(DeviceKind::Gpu)
                                  : std::optional(DeviceKind::Cpu);
}

Diagnostic cannotRun(const PlacementProblem& problem, OpId op, const std::string& where,
                     const std::string& hint) {
  const std::string_view opName = problem.graph.nameOf(op);
  const SourceLocation place = problem.graph.locationOf(op);
  if (const auto kind = kindWithoutSeconds(problem.graph[op])) {
    const bool gpu = *kind == DeviceKind::Gpu;
    return {Severity::Error, place,
            fmt::format("custom op '{}' cannot run on {}: it has {} alone", opName, where,
                        gpu ? "cpuSeconds" : "gpuSeconds"),
            fmt::format("give it {}, or let it run on a {}: pin it there, or choose policy auto",
                        gpu ? "gpuSeconds" : "cpuSeconds", gpu ? "cpu" : "gpu")};
  }
  return {Severity::Error, place, fmt::format("'{}' cannot run on {}: it would take for ever", opName, where),
          hint};
}

} // namespace

Diagnostics checkRunsSomewhere(const PlacementProblem& problem) {
  Diagnostics errors;
  const auto devices = problem.machine.devices.ids();
  for (const OpId op : problem.graph.ops()) {
    if (!runsIn(problem.graph, op)) {
      continue;
    }
    const bool arrives = problem.graph[op].kind() == OpKind::Input;
    const DeviceId only = arrives ? problem.machine.host() : problem.pins[op];
    if (only.valid() && !canRun(problem, op, only)) {
      errors.push_back(cannotRun(problem, op, problem.machine.devices[only].name + ", where it has to",
                                 "pin it elsewhere, or look at that device's flops and memoryBandwidth"));
    } else if (!only.valid() &&
               llvm::none_of(devices, [&](DeviceId device) { return canRun(problem, op, device); })) {
      errors.push_back(
          cannotRun(problem, op, "any device", "look at the devices' flops and memoryBandwidth"));
    }
  }
  return errors;
}

Diagnostics checkRunsThere(const Placement& placement, const PlacementProblem& problem) {
  Diagnostics errors;
  for (const OpId op : problem.graph.ops()) {
    const DeviceId device = placement.device[op];
    if (runsIn(problem.graph, op) && !canRun(problem, op, device)) {
      errors.push_back(cannotRun(problem, op,
                                 fmt::format("{}, where this policy puts it ({})",
                                             problem.machine.devices[device].name, placement.policy),
                                 "pin it to a device that can, or choose policy heft"));
    }
  }
  return errors;
}

} // namespace dfc
