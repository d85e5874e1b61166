// Ctrl-C while planning: the work is done on a thread of its own, while the caller's looks for signals.
#pragma once

#include "compiler/cost/calibrated_cost_model.h"
#include "tools/python/module/planning/plan.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <atomic>

namespace dfc::python {

/// Ends planning: thrown out of the cost model, which all of planning asks.
struct Stopped {};

/// A cost model that answers until `stop` is set.
template <class Model>
class Stoppable final : public Model {
 public:
  template <class... Arguments>
  explicit Stoppable(const std::atomic<bool>& stop, Arguments&&... arguments)
      : Model(std::forward<Arguments>(arguments)...), stop_(stop) {}
  double opSeconds(const Graph& graph, OpId op, const Machine& machine, DeviceId device) const override {
    if (stop_.load(std::memory_order_relaxed)) {
      throw Stopped();
    }
    return Model::opSeconds(graph, op, machine, device);
  }

 private:
  const std::atomic<bool>& stop_;
};

/// Calls `plan` with the cost model of the options, without the interpreter's lock, which it must not take.
/// Raises KeyboardInterrupt, or what another signal's handler raises, soon after the signal, and when `plan`
/// has ended.
void withStoppableCost(const Options& options, llvm::function_ref<void(const CostModel&)> plan);

} // namespace dfc::python
