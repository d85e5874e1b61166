// The launches of a queue's computations, before there is a GPU: which kernels, over how many blocks, with
// which pointers, in which order. A pure function of the plan; runtime/cuda/compute compiles and launches it.
#pragma once

#include "runtime/cuda/launches/merge.h"

#include <string>

namespace dfc::cuda {

struct PlannedLaunch {
  /// Of the command at whose turn it is enqueued: its op's, or, where launches may be merged, that of the
  /// first computation of the segment.
  uint32_t position = 0;
  std::vector<uint32_t> computations; ///< whose work it does, wholly or in part; ascending
  std::optional<MatmulCall> product;  ///< by cuBLASLt, with `out` at pointers[0]
  bool convolution = false;           ///< by the library; pointers: operands, result, workspace
  /// Else a kernel: its text, behind `prelude()`, and its shape.
  std::string text;
  std::array<uint32_t, 2> grid{1, 1};
  uint32_t threads = 1;
  bool pointersByValue = false; ///< one parameter, the array of all pointers; else each is one
  std::vector<Place> pointers;
};

struct LaunchPlan {
  std::vector<PlannedLaunch> launches; ///< in order; segments one after the other
  int64_t workspaceBytes = 0;          ///< of the generated kernels, for all launches in turn
};

/// `merge`: whether launches may be merged; else each unit is one. Every op must have a kernel.
LaunchPlan planLaunches(const Graph& graph, llvm::ArrayRef<Computation> computations, bool merge,
                        Libraries libraries = {});

} // namespace dfc::cuda
