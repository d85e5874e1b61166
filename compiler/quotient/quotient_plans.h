// quotientPlans: how a graph would run on more devices than a plan is made for. Each grid of pipeline stages,
// groups and devices of a group is simulated as a quotient (quotient_machine.h), with two numbers of
// micro-batches, between which a step's seconds grow evenly with their number.
#pragma once

#include "compiler/compile.h"
#include "compiler/split/split.h"

namespace dfc {

struct QuotientPlan {
  Grid grid;               ///< of all devices of the class
  size_t parts = 1;        ///< of the batch
  double seconds = 0;      ///< of a step
  double memoryBytes = 0;  ///< of the device that needs the most
  double stateBytes = 0;   ///< of these, between steps
  bool fits = true;        ///< into the device's memory
  std::string description; ///< "pipeline of 16 stages, each of 8 groups of 8 devices, the batch in 64 parts"
  SplitGraph split;        ///< over the quotient: a device of each stage, and its mirrors
};

/// The largest class of alike devices, in the machine's order.
std::vector<DeviceId> largestClass(const Machine& machine);

/// Those that fit first, the quickest first. Micro-batches of a pipeline: four for each stage, or half as
/// many, and so on, until the batch divides. Memory: state, and what a device has under way where forward and
/// backward parts alternate (Narayanan et al. 2019, "PipeDream": 1F1B). `written`: as for `compile`, without
/// pins. Errors: those of the graph's passes.
Result<std::vector<QuotientPlan>> quotientPlans(const Graph& written, const Machine& machine,
                                                const CostModel& cost, const CompileOptions& options);

/// The plan of one grid: of a graph behind the phase Rewrite, over `devices` without the host. Nothing where
/// the grid does not suit the graph.
std::optional<QuotientPlan> quotientPlan(const Graph& rewritten, const Machine& machine,
                                         llvm::ArrayRef<DeviceId> devices, const Grid& grid,
                                         const CostModel& cost, const CompileOptions& options);

} // namespace dfc
