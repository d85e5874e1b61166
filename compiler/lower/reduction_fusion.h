// Producer–consumer reduction fusion: a reduction is computed by the kernel that produces its operand. In a
// backward step the gradient of a bias is the sum over the rows of a product times the derivative of relu or
// gelu; fused with the kernel that writes that value, the sum does not read it again from memory.
// (cuBLASLt's DRELU_BGRAD and DGELU_BGRAD serve the same case; README.md says why they are not
// used.)
#pragma once

#include "compiler/lower/kernels/code.h"
#include "compiler/lower/unmerged_launch.h"

#include <vector>

namespace dfc::cuda {

struct FusionLimits {
  uint64_t producerThreads = 1 << 16;  ///< a producer of at most so many leaves its result in the cache
  uint64_t reductionThreads = 1 << 15; ///< the reduction's threads must be at least so many,
  /// And its blocks, since they compute the operand too: one for each multiprocessor.
  uint64_t reductionBlocks = GpuShape::assumedMultiprocessors;
  size_t lookBack = 256; ///< launches that a reduction may be moved over
};

/// Replaces the producer of a reduction's operand by a fused launch where every launch between the two is
/// independent of the reduction. The second launch of a reduction in two passes stays where it is. A
/// reduction may be moved to an earlier region of its queue region. No bit of a result changes.
std::vector<UnmergedLaunch> fuseReductions(std::vector<UnmergedLaunch> launches,
                                           const FusionLimits& limits = {});

} // namespace dfc::cuda
