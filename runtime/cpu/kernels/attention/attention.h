// attention and its gradient, a block of queries at a time: the scores of a block stay in a thread's scratch,
// so that memory is linear in the numbers of queries and keys (Dao et al. 2022). f16 and bf16 are computed in
// f32 and rounded once.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeAttentionKernel(const ops::Attention& op, OperandTypes operands,
                                               ThreadPool& pool);
std::unique_ptr<CpuKernel> makeAttentionGradientKernel(const ops::AttentionGradient& op,
                                                       OperandTypes operands, ThreadPool& pool);

} // namespace dfc
