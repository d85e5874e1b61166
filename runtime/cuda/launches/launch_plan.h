// The launches of a queue's computations, before there is a GPU: which kernels, over how many blocks, with
// which pointers, in which order. A pure function of the plan; runtime/cuda/compute compiles and launches it.
#pragma once

#include "runtime/cuda/launches/merge.h"

#include <string>

namespace dfc::cuda {

struct PlannedLaunch {
  /// The position of the command with which it is enqueued: its op's own, or, where launches may be merged,
  /// that of the first computation of the region.
  uint32_t position = 0;
  std::vector<uint32_t> computations; ///< that it computes, wholly or in part; ascending
  std::optional<MatmulCall> product;  ///< by cuBLASLt, with `out` at pointers[0]
  bool convolution = false;           ///< by the library; pointers: operands, result, workspace
  /// A generated kernel otherwise: its text, which follows `prelude()`, and its launch shape.
  std::string text;
  std::array<uint32_t, 2> grid{1, 1};
  uint32_t threads = 1;
  uint32_t dynamicSharedBytes = 0;
  bool pointersByValue = false; ///< one parameter, the array of all pointers; else a parameter each
  std::vector<Place> pointers;
};

struct LaunchPlan {
  std::vector<PlannedLaunch> launches; ///< in order; regions one after the other
  int64_t workspaceBytes = 0;          ///< of the generated kernels, for all launches in turn
};

/// `merge`: whether launches may be merged; if not, every launch stays unmerged. Every op must have a kernel.
LaunchPlan planLaunches(const Graph& graph, llvm::ArrayRef<Computation> computations, bool merge,
                        Libraries libraries = {});

} // namespace dfc::cuda
