#include "compiler/place/runnable.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <cmath>

namespace dfc {
namespace {

bool runsIn(const Graph& graph, OpId op) {
  const OpKind kind = graph[op].kind();
  return kind != OpKind::Parameter && kind != OpKind::Constant;
}

bool canRun(const PlacementProblem& problem, OpId op, DeviceId device) {
  return std::isfinite(problem.cost.opSeconds(problem.graph, op, problem.machine, device));
}

/// Of an op whose author says on which kinds of device it runs.
Diagnostic customCannotRun(const Graph& graph, OpId op, const std::string& where) {
  const auto& custom = graph[op].as<ops::Custom>();
  const bool onCpu = custom.cpuSeconds > 0;
  return {Severity::Error, graph.locationOf(op),
          fmt::format("custom op '{}' cannot run on {}: it has {} alone", graph.nameOf(op), where,
                      onCpu ? "cpuSeconds" : "gpuSeconds"),
          fmt::format("give it {}, or let it run on a {}", onCpu ? "gpuSeconds" : "cpuSeconds",
                      onCpu ? "cpu" : "gpu")};
}

Diagnostic cannotRun(const PlacementProblem& problem, OpId op, const std::string& where,
                     const std::string& hint) {
  if (problem.graph[op].kind() == OpKind::Custom) {
    return customCannotRun(problem.graph, op, where);
  }
  return {Severity::Error, problem.graph.locationOf(op),
          fmt::format("'{}' cannot run on {}: it would take for ever", problem.graph.nameOf(op), where),
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
