// The launches of one queue's computations: which kernels, over how many blocks, with which pointers, in
// which order. A pure function of the plan.
#pragma once

#include "compiler/lower/merge.h"

#include <string>

namespace dfc::cuda {

/// A launch of the plan before its queue is known and its text is shared (lower.cpp).
struct PlannedLaunch {
  /// The position of the step in whose place it is enqueued: its op's own, or, where launches may be merged,
  /// that of the first computation of the region.
  uint32_t position = 0;
  std::vector<uint32_t> computations; ///< that it computes, wholly or in part; ascending
  LaunchRow row;                      ///< without queue, ops and kernel
  std::string text;                   ///< of a generated kernel, which follows `prelude()`
  std::vector<PlannedLaunch> spare;   ///< as `LaunchRow::spare`, which is empty here
};

struct QueueLaunches {
  std::vector<PlannedLaunch> launches; ///< in order; regions one after the other
  int64_t workspaceBytes = 0;          ///< of the generated kernels, for all launches in turn
  std::vector<uint32_t> missing;       ///< computations without a kernel; then there are no launches
};

/// `merge`: whether launches may be merged; if not, every launch stays unmerged.
QueueLaunches planLaunches(const Graph& graph, llvm::ArrayRef<Computation> computations, bool merge,
                           const GpuTarget& target = {});

} // namespace dfc::cuda
