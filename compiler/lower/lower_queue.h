// Adds the launches of a queue's computations to a launch plan, each kernel's text once.
#pragma once

#include "compiler/lower/plan_launches.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <unordered_map>

namespace dfc::cuda {

/// Whether the target has what kernels of this kind of op need, beside a kernel for its types.
bool runsOn(OpKind kind, const GpuTarget& target);

class LaunchPlanBuilder {
 public:
  /// Both outlive the builder. The plan has a workspace size for each queue.
  LaunchPlanBuilder(const Graph& graph, LaunchPlan& plan) : graph_(graph), plan_(plan) {}

  /// `opAt`: the op of the queue's step at a position. Returns the ops without a kernel; where there are
  /// some, adds nothing.
  std::vector<OpId> addQueue(QueueId queue, llvm::ArrayRef<Computation> computations, bool merge,
                             const GpuTarget& target, llvm::function_ref<OpId(uint32_t position)> opAt);

 private:
  LaunchRow rowOf(PlannedLaunch launch, QueueId queue, OpId at, const std::vector<OpId>& ops);
  uint32_t kernelOf(std::string text);

  const Graph& graph_;
  LaunchPlan& plan_;
  std::unordered_map<std::string, uint32_t> kernels_; ///< numbers by text
};

} // namespace dfc::cuda
