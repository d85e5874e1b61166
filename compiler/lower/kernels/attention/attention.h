// Fused attention and its gradient in tiles that stay on the multiprocessor (FlashAttention-2: Dao, 2023),
// for GPUs from sm_80 on. The device code is in the .cuh files of this folder, behind constants that are
// written here.
//
// q[batch, heads, queries, width], k[batch, keyHeads, keys, width], v[batch, keyHeads, keys, valueWidth], or
// in another layout (ir/graph/ops/attention/attention.h); query head i uses key head i / (heads / keyHeads).
// scores = scale * q k^T; o = softmax(scores) v; logSumExp[batch, heads, queries] (f32) is that of the
// visible scores. A row without a visible key has o = 0, logSumExp = -infinity and no gradient. NaN and
// infinities propagate from visible keys and values as in the formula; from masked values they may propagate,
// too.
#pragma once

#include "compiler/lower/kernels/generated_kernel.h"
#include "ir/graph/rules/attention_shape.h"

namespace dfc::cuda {

struct AttentionProblem : AttentionSizes {
  int64_t batch = 1;
  ElementType element = ElementType::F32; ///< BF16, F16 or F32
  bool tf32 = false;                      ///< products of F32 rounded to tf32; else every one is f32
  bool causal = false;                    ///< query i sees keys up to i
  double scale = 1;
  /// Elements between neighbours in batch, heads, queries and keys of the mask; 0: the same for all. None: no
  /// mask.
  std::optional<std::array<int64_t, 4>> maskStrides;
};

/// The problem of an op whose first three operands are q, k and v, and whose last is the mask where `masked`.
/// None where the mask has no one stride over all batch axes.
std::optional<AttentionProblem> attentionProblem(const ops::Attention& op, OperandTypes operands,
                                                 bool masked);

/// Whether there are kernels, on a GPU from sm_80 on: by element type, widths (256 at most), and elements.
bool attentionKernelExists(const AttentionProblem& problem);

/// Operands q, k, v [, mask]; results o, logSumExp.
GeneratedKernels attentionKernels(const AttentionProblem& problem, const GpuShape& gpu);

/// Operands q, k, v, cotangent of o, logSumExp (f32), delta (f32) [, mask]; results dq, dk, dv. `delta`
/// [batch, heads, queries] is the sum of o times its cotangent over the row, less the cotangent of logSumExp.
/// The same bits every time.
GeneratedKernels attentionGradientKernels(const AttentionProblem& problem, const GpuShape& gpu);

} // namespace dfc::cuda
