// quotientPlan: the predicted step of a graph over one grid, simulated on a quotient machine
// (quotient_machine.h) with one and with two micro-batches; the seconds of more micro-batches are
// extrapolated.
#pragma once

#include "compiler/compile.h"
#include "compiler/grids.h"

namespace dfc {

struct QuotientPlan {
  Grid grid;
  size_t microBatches = 1;
  double seconds = 0;      ///< predicted, of a step
  double memoryBytes = 0;  ///< the largest over the stages, of one device
  double stateBytes = 0;   ///< the part of `memoryBytes` that holds parameters and optimiser state
  bool fits = true;        ///< whether `memoryBytes` is at most the capacity of a device
  bool recomputes = false; ///< whether ops are computed twice so that it fits (compiler/rematerialise)
  bool isOwn = true; ///< whether the compiler tries the grid by itself; false for one that is only wanted
  std::string description; ///< "pipeline of 16 stages, each of 8 groups of 8 devices, 64 micro-batches"
  SplitGraph split;        ///< on the quotient machine
};

/// Whether a plan is preferred: plans that fit first, then by seconds.
bool isBetter(const QuotientPlan& a, const QuotientPlan& b);

/// The plan of one grid. The number of micro-batches is four per stage, halved until the batch divides, and 1
/// without stages. Memory is estimated for a 1F1B schedule (Narayanan et al. 2019, "PipeDream"): state, what
/// is held once for all micro-batches, and the values of the micro-batches in flight (stage_memory.h); where
/// that is too much, with splits within groups for little memory, and with recomputation. `rewritten`: behind
/// the phase Rewrite. `devices`: alike, without the host. Empty if the graph cannot be split over the grid.
std::optional<QuotientPlan> quotientPlan(const Graph& rewritten, const Machine& machine,
                                         llvm::ArrayRef<DeviceId> devices, const WantedGrid& wanted,
                                         const CostModel& cost, const CompileOptions& options);

/// The plan with more micro-batches, doubled while that makes it better, or until it fits. Arguments as of
/// `quotientPlan`.
QuotientPlan improvedPlan(QuotientPlan plan, const Graph& rewritten, const Machine& machine,
                          llvm::ArrayRef<DeviceId> devices, const CostModel& cost,
                          const CompileOptions& options);

} // namespace dfc
