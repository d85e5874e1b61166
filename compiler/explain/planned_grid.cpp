#include "compiler/explain/planned_grid.h"

#include "compiler/fit_candidate.h"
#include "compiler/lower_options.h"
#include "compiler/place/place.h"
#include "compiler/run_passes.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"

namespace dfc {

std::optional<double> plannedGridSeconds(const Graph& written, const Machine& machine,
                                         llvm::ArrayRef<DeviceId> devices, const CostModel& cost,
                                         const CompileOptions& options, const Grid& grid,
                                         size_t microBatches) {
  CompileOptions quiet = options;
  quiet.observer = nullptr; // observers see plans, no trials
  const auto expanded = runPasses(PassPhase::Expand, written, machine, quiet);
  const auto rewritten =
      expanded ? runPasses(PassPhase::Rewrite, *expanded, machine, quiet) : Result<Graph>(expanded.errors());
  if (!rewritten) {
    return std::nullopt;
  }
  const Graph graph = unfoldBatchNorms(takeCuts(*rewritten).graph);
  const auto split = splitOverGrid(graph, gridRows(devices, grid), machine, cost, {microBatches});
  if (!split) {
    return std::nullopt;
  }
  const auto fused = runPasses(PassPhase::Fuse, split->graph, machine, quiet);
  auto placed =
      fused ? place(*fused, machine, cost, "pins", lowerOptionsOf(quiet)) : Result<Placement>(fused.errors());
  return placed ? fitCandidate(*placed, split->graph, "pins", machine, cost, quiet).seconds : std::nullopt;
}

} // namespace dfc
