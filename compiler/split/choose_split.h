// SplitChoices: the options of all ops with the least sum of computation and priced communication, by
// `minimise` (exact where its tables stay small). Computation: seconds of an op's part on one device, by the
// cost model. Communication: seconds in which the bytes of a change of layout reach one device, times a
// price. A price below 1 says that links are idle anyway while devices compute; the scheduler's prediction
// decides which price was right.
#pragma once

#include "compiler/split/split_plan.h"
#include "compiler/split/split_problem.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {

/// Weights of the objective, a sum of seconds of computation, communication and state.
struct SplitPrices {
  double link = 1;      ///< of a second of communication, in seconds of computation
  double feeds = 1;     ///< of a second of feeding, in seconds of other communication
  double beforeSum = 1; ///< of a second of an op on partial sums; above 1, because an op after the sum may be
                        ///< fused with it
  /// Micro-batches of a step over those in the graph: a factor for the ops and copies of micro-batches. Work
  /// outside of micro-batches, such as the gathering of weights, is done once a step.
  double microBatches = 1;
  double byte = 0; ///< of a byte per device that is held for a step, such as state and, of micro-batches,
                   ///< sums of gradients; in seconds. Above 0, cut parameters are gathered in each step and
                   ///< not kept (Rajbhandari et al. 2020, "ZeRO", stage 3)
};

/// What every price of one mesh shares: rules, options and the seconds of each.
class SplitChoices {
 public:
  SplitChoices(const Graph& graph, const Mesh& mesh, const Machine& machine, const CostModel& cost,
               OptionSpace space = OptionSpace::Useful);
  /// The same for several rows of devices; `mesh` is the first row.
  SplitChoices(const Graph& graph, const Mesh& mesh, Rows rows, const Machine& machine, const CostModel& cost,
               OptionSpace space = OptionSpace::Useful);
  SplitPlan choose(const SplitPrices& prices) const;
  /// Restricts the options of the value's op to those that cut the value along the axis. False, and without
  /// effect, if there is none.
  bool require(ValueId value, size_t axis);
  /// The axes along which the value may be cut.
  std::vector<size_t> axesOf(ValueId value) const;
  /// The same with these seconds, by op and option, and changes of layout that take no time: for tests, which
  /// draw any split that is allowed.
  SplitPlan chooseBy(llvm::function_ref<double(OpId op, size_t option)> seconds) const;
  /// The choice at a price as tables of costs.
  SplitProblem problemAt(double price) const;
  /// The plan of these options, an index for each op. `seconds`: of the objective.
  SplitPlan planOf(llvm::ArrayRef<uint32_t> option, double price, double seconds) const;
  llvm::ArrayRef<OpOption> options(OpId op) const { return options_[op]; }

 private:
  bool isOnOneDevice(OpId op) const;
  double heldBytes(OpId op, const OpOption& option) const;
  void findHeld();
  void addPrices(const Machine& machine, const CostModel& cost, OptionSpace space);
  SplitPlan chosen(const SideTable<OpId, std::vector<double>>& seconds, const SplitPrices& prices) const;
  const Graph& graph_;
  Mesh mesh_;
  Rows rows_;
  SideTable<OpId, std::vector<OpOption>> options_;
  SideTable<OpId, std::vector<double>> seconds_; ///< by option
  SideTable<OpId, bool> isHeld_,
      inMicroBatch_; ///< whether a micro-batch leaves the op's results to what comes behind it
};

} // namespace dfc
