// Kernels that move elements and compute nothing: transpose, broadcast, slice, split, concat, pad, tile, and
// the plain copy that a reshape or an assign is when its result has a place of its own.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// Asserts that the op is one of those.
std::unique_ptr<CpuKernel> makeMovementKernel(const OpAttributes& attributes, OperandTypes operands,
                                              OperandTypes results, ThreadPool& pool);

} // namespace dfc
