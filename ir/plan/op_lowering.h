// OpLowering: the launches of single ops, as a backend asks for them to time each by itself. The compiler
// implements it (compiler/lower/lower_op.h), since the runtime does not know the compiler.
#pragma once

#include "ir/machine/calibration.h"
#include "ir/plan/launch_plan.h"

namespace dfc {

/// One op with memory of its own.
struct OpLaunches {
  LaunchPlan plan; ///< of one queue and one device
  int64_t arenaBytes = 0;
  llvm::SmallVector<int64_t, 4> operands; ///< offsets in the arena
};

/// A product by a library, whose algorithm a calibration chooses.
struct TimedProduct {
  ProductCall call;
  LoneOp plain;            ///< the product without what is fused behind it, under which the choice is kept
  bool mayTile = false;    ///< generated tiles can compute it, too
  std::string tilesChoice; ///< the choice of these tiles
};

class OpLowering {
 public:
  virtual ~OpLowering() = default;
  /// Whether a GPU computes the op by launches.
  virtual bool hasLaunches(const Graph& graph, OpId op, const DeviceRow& device) const = 0;
  /// None for other ops.
  virtual std::optional<TimedProduct> productOf(const Graph& graph, OpId op,
                                                const DeviceRow& device) const = 0;
  /// Of an op that has launches. A result overwrites an addend, as an update in a plan overwrites its
  /// parameter; `choice`: of its product's algorithm, "" for the library's heuristic.
  virtual OpLaunches launchesOf(const Graph& graph, OpId op, const DeviceRow& device,
                                const std::string& choice) const = 0;
};

} // namespace dfc
