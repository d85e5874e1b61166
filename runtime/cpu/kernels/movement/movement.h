// Kernels that only move elements: transpose, broadcast, slice, split, concat, pad, tile, and the plain copy
// of a reshape or an assign whose result has an offset of its own.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// Asserts that the op is one of those.
std::unique_ptr<CpuKernel> makeMovementKernel(const OpAttributes& attributes, OperandTypes operands,
                                              OperandTypes results, ThreadPool& pool);

} // namespace dfc
