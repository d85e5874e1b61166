// Folds of what an earlier launch makes, made along with it: behind a product times the slope of relu or
// gelu, the bias's gradient is the sum over rows of what is just being written, and need not be read again
// for it. (cuBLASLt's DRELU_BGRAD and DGELU_BGRAD are for the same; launches/README.md compares.)
#pragma once

#include "runtime/cuda/kernels/code.h"
#include "runtime/cuda/launches/single_launch.h"

#include <vector>

namespace dfc::cuda {

struct FoldLimits {
  uint64_t makerThreads = 1 << 16;       ///< of so many at most, what is made stays in the cache
  uint64_t foldThreads = 1 << 15;        ///< that at least must be there to make it,
  uint64_t foldBlocks = multiprocessors; ///< and blocks
  size_t lookBack = 256;                 ///< units that a fold may be moved over
};

/// The units with each such fold in the place of what makes its operand, if nothing between them is in the
/// way; a fold's second launch stays where it is. A fold may come from a later segment of the same stretch;
/// no bit changes.
std::vector<Unit> withFoldsMadeAlong(std::vector<Unit> units, const FoldLimits& limits = {});

} // namespace dfc::cuda
