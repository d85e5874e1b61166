#include "compiler/explain/explain_quotient.h"

#include "compiler/explain/explain_parts.h"
#include "compiler/explain/planned_grid.h"
#include "compiler/grids.h"
#include "compiler/passes/passes.h"
#include "compiler/quotient/quotient_plans.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/verify/verify.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

/// How many of the grids are notable.
constexpr size_t mostNotable = 6;

std::string verdictOf(const QuotientPlan& plan, double chosen) {
  return plan.fits      ? slowerText(plan.seconds, chosen)
         : plan.isBound ? "does not fit into memory; not simulated, at least so long"
                        : "does not fit into memory";
}

/// `isWanted`: whether the first is the grid that was asked for, rather than the best.
std::vector<ExplainedCandidate> candidatesOf(llvm::ArrayRef<QuotientPlan> plans, bool isWanted) {
  std::vector<ExplainedCandidate> rows;
  for (const QuotientPlan& plan : plans) {
    const bool chosen = rows.empty();
    std::string verdict = !chosen     ? verdictOf(plan, plans[0].seconds)
                          : isWanted  ? "asked for"
                          : plan.fits ? "chosen"
                                      : "the quickest; none fits into memory";
    if (chosen && isWanted && !plan.fits) {
      verdict += "; does not fit into memory";
    }
    rows.push_back({ExplainedCandidate::Kind::Grid, plan.description, plan.seconds, plan.fits, chosen,
                    std::move(verdict), plan.split.plan.price, rows.size() < mostNotable});
  }
  return rows;
}

bool hasPinsOrCuts(const Graph& graph, const CompileOptions& options) {
  return !options.pins.empty() || !options.splits.empty() || !graph.opsOf(OpKind::Cut).empty() ||
         llvm::any_of(graph.ops(),
                      [&](OpId op) { return !graph.pinOf(op).empty() && graph[op].kind() != OpKind::Input; });
}

} // namespace

Result<Explanation> explainQuotient(const Graph& graph, const Machine& machine, const CostModel& cost,
                                    const CompileOptions& options, const ExplainOptions& explain) {
  for (const Diagnostics& errors : {checkPassNames(options.skipPasses), verifyMachine(machine),
                                    refusePlanOps(graph), verifyWholeState(graph)}) {
    if (!errors.empty()) {
      return errors;
    }
  }
  const std::vector<DeviceId> devices = largestClass(machine);
  if (hasPinsOrCuts(graph, options)) {
    return errorWithoutPlace(
        fmt::format(
            "pins and cuts are for plans, which are made for at most {} devices and for no given grid",
            mostPlannedDevices),
        "leave them out, or take a machine file with fewer devices and no grid");
  }
  auto plans = quotientPlans(graph, machine, cost, options, explain.grid);
  if (!plans) {
    return plans.errors();
  }
  if (plans->empty()) {
    return errorWithoutPlace(
        fmt::format(
            "no grid of {} devices suits the graph: its state has no room, or its batch too few parts",
            devices.size()),
        "use a larger batch, or a machine file with fewer devices or more memory");
  }
  const QuotientPlan& best = plans->front();
  const DeviceRow& row = machine.devices[devices.front()];
  const Mesh& mesh = best.split.plan.mesh;
  Explanation said;
  said.graph = graph.name();
  said.machine = machine.name;
  said.placement = best.description;
  said.machineDevices = machine.devices.size();
  said.isSplit = true;
  said.grid = best.grid;
  said.simulated = devices.size();
  said.largestShare = 1 / static_cast<double>(devices.size());
  said.devices = {{row.name, said.largestShare, static_cast<int64_t>(best.memoryBytes),
                   static_cast<int64_t>(best.stateBytes), row.memoryBytes}};
  said.bandwidth = mesh.bandwidth;
  said.latencySeconds = mesh.latencySeconds;
  said.scopes = explainScopes(best.split.outer ? *best.split.outer : best.split, explain.scopeDepth);
  if (best.split.outer) {
    said.scopesInGroups = explainScopes(best.split, explain.scopeDepth);
  }
  said.seconds = said.aloneSeconds = best.seconds;
  if (explain.grid && devices.size() <= mostDevicesOfPlannedGrid) {
    said.plannedSeconds =
        plannedGridSeconds(graph, machine, devices, cost, options, best.grid, best.microBatches);
  }
  said.candidates = candidatesOf(*plans, explain.grid.has_value());
  return said;
}

} // namespace dfc
