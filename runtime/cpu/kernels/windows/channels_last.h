// Convolutions and pools of images with their channels last: their operands are transposed into buffers, the
// kernel for channels first runs, and its result is transposed back. Correct, not fast: the pass
// choose_layout makes such ops for GPUs.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// `channelsFirst`: the op's form with its channels first (`channelsFirstForm`); operands and results: the
/// types of the op itself.
std::unique_ptr<CpuKernel> makeChannelsLastKernel(const OpAttributes& channelsFirst, OperandTypes operands,
                                                  OperandTypes results, ThreadPool& pool);

} // namespace dfc
