#include "compiler/run_passes.h"

#include "compiler/stage_check.h"
#include "ir/verify/verify.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

// Whether ops with this pin run on a GPU, or may: an op without a pin on a machine with GPUs.
bool mayRunOnGpu(const Machine& machine, std::string_view pin) {
  const auto isGpu = [](const DeviceRow& device) { return device.kind == DeviceKind::Gpu; };
  const DeviceId device = machine.findDevice(pin);
  return device.valid() ? isGpu(machine.devices[device]) : llvm::any_of(machine.devices, isGpu);
}

Result<Graph> runPass(const PassRow& pass, const Graph& graph, const Machine& machine,
                      const CompileOptions& options) {
  if (llvm::is_contained(options.skipPasses, pass.name)) {
    return graph;
  }
  PassOptions choices{.precision = options.precision,
                      .channelsLast = [&](std::string_view pin) { return mayRunOnGpu(machine, pin); },
                      .onCpus = [&](std::string_view pin) { return !mayRunOnGpu(machine, pin); }};
  if (!options.pins.empty()) {
    choices.pinnedAlike = [&](const Graph& now, OpId a, OpId b) {
      return pinnedAlike(now, a, b, options.pins);
    };
  }
  auto next = pass.run(graph, choices);
  if (next) {
    checkStage(pass.name, [&] { return verifyGraph(*next); });
    if (options.observer != nullptr) {
      options.observer->graph(*next, pass.name);
    }
  }
  return next;
}

} // namespace

Result<Graph> runPasses(PassPhase phase, Graph graph, const Machine& machine, const CompileOptions& options) {
  Diagnostics warnings;
  for (const PassRow& pass : allPasses()) {
    if (pass.phase != phase) {
      continue;
    }
    auto next = runPass(pass, graph, machine, options);
    if (!next) {
      return next;
    }
    llvm::append_range(warnings, next.warnings());
    graph = *std::move(next);
  }
  return Result<Graph>(std::move(graph)).withWarnings(warnings);
}

} // namespace dfc
