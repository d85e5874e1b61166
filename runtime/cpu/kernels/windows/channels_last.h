// Convolutions and pools of images with their channels last that have no kernel of their own: their operands
// are transposed into buffers, the kernel for channels first runs, and its result is transposed back.
// Correct, not fast.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// `channelsFirst`: the form of the op `attributes` with its channels first (`channelsFirstForm`); operands
/// and results: the types of the op itself.
std::unique_ptr<CpuKernel> makeChannelsLastKernel(const OpAttributes& attributes,
                                                  const OpAttributes& channelsFirst, OperandTypes operands,
                                                  OperandTypes results, ThreadPool& pool);

} // namespace dfc
