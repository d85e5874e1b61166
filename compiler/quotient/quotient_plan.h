// QuotientPlanner: the predicted step of a graph over one grid, simulated on a quotient machine
// (quotient_machine.h) with one and with two micro-batches; the seconds of more micro-batches are
// extrapolated, or, where asked for, simulated.
#pragma once

#include "compiler/compile.h"
#include "compiler/grids.h"

#include <memory>

namespace dfc {

struct QuotientPlan {
  Grid grid;
  size_t microBatches = 1;
  double seconds = 0;       ///< predicted, of a step; a lower bound where `isBound`
  double memoryBytes = 0;   ///< the largest over the stages, of one device
  double stateBytes = 0;    ///< the part of `memoryBytes` that holds parameters and optimiser state
  bool fits = true;         ///< whether `memoryBytes` is at most the capacity of a device
  bool recomputes = false;  ///< whether ops are computed twice so that it fits (compiler/rematerialise)
  bool isReordered = false; ///< whether its ops were reordered for less memory, or that was tried
  MemoryUse memory = MemoryUse::Ample; ///< of the choice of its split
  bool isBound = false; ///< of a plan that does not fit: not simulated, `seconds` are those of the stage
                        ///< that computes longest
  bool isOwn = true;    ///< whether the compiler tries the grid by itself; false for one that is only wanted
  std::string description; ///< "pipeline of 16 stages, each of 8 groups of 8 devices, 64 micro-batches"
  SplitGraph split;        ///< on the quotient machine
};

/// Whether a plan is preferred: plans that fit first, then by seconds.
bool isBetter(const QuotientPlan& a, const QuotientPlan& b);

/// The plans of one grid, with micro-batches of equal length. The bytes of a stage are those of a 1F1B
/// schedule: its state, what all micro-batches share, and the values of the micro-batches that it has begun
/// and not ended (stage_memory.h). Where the graph's order of ops needs too many bytes, an order of small
/// peaks is tried, with ops computed twice if need be, and a split that holds little. The arguments outlive
/// it; one caller at a time.
class QuotientPlanner {
 public:
  /// `rewritten`: behind the phase Rewrite. `devices`: alike, without the host.
  QuotientPlanner(const Graph& rewritten, const Machine& machine, llvm::ArrayRef<DeviceId> devices,
                  const WantedGrid& wanted, const CostModel& cost, const CompileOptions& options);
  ~QuotientPlanner();

  /// The plan of as many micro-batches as are wanted; else of the most that are at most four per stage, and 1
  /// without stages. Empty if the graph cannot be split over the grid.
  std::optional<QuotientPlan> first();
  /// The plan with more micro-batches, at least doubled while that makes it better, or until it fits.
  QuotientPlan improved(QuotientPlan plan);
  /// The plan with predicted seconds in place of a bound.
  QuotientPlan simulated(QuotientPlan plan);
  /// The plan with the seconds of a simulation of all its micro-batches, where these are not too many ops.
  QuotientPlan simulatedWhole(QuotientPlan plan);

 private:
  class Planner;
  std::unique_ptr<Planner> planner_;
};

} // namespace dfc
