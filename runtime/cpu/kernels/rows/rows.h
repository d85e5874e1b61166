// Kernels along one axis: argMax; softmax, logSoftmax and the cross entropy of softmax with its gradient,
// whose exponentials are taken after the maximum of the row is subtracted, so that none overflows; layerNorm
// and rmsNorm. f16 and bf16 are computed in f32 and rounded once.
#pragma once

#include "ir/graph/rules/norm_rules.h"
#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeArgMaxKernel(const ops::ArgMax& op, OperandTypes operands, ThreadPool& pool);

/// softmax (`logarithm` false) or logSoftmax along `axis`.
std::unique_ptr<CpuKernel> makeSoftmaxKernel(int64_t axis, bool logarithm, const TensorType& type,
                                             ThreadPool& pool);

/// softmaxCrossEntropy of logits and labels: a scalar of type `loss`, that of the logits or f32.
std::unique_ptr<CpuKernel> makeCrossEntropyKernel(const ops::SoftmaxCrossEntropy& op, OperandTypes operands,
                                                  ElementType loss, ThreadPool& pool);

/// softmaxCrossEntropyGradient of logits, labels and cotangent: of the type of logits. A row whose label is
/// out of range is NaN.
std::unique_ptr<CpuKernel> makeCrossEntropyGradientKernel(const ops::SoftmaxCrossEntropyGradient& op,
                                                          OperandTypes operands, ThreadPool& pool);

/// layerNorm (`centred`) or rmsNorm over `axis` and all after it. Means and variances are computed in
/// f64, except the variances of layerNorm that row_norm.h leaves to oneDNN.
std::unique_ptr<CpuKernel> makeNormKernel(int64_t axis, double epsilon, bool centred, OperandTypes operands,
                                          ElementType result, ThreadPool& pool);

/// layerNormGradient or rmsNormGradient. Sums of rows and of columns are carried in f64.
std::unique_ptr<CpuKernel> makeNormGradientKernel(const NormGradientForm& form, OperandTypes operands,
                                                  ThreadPool& pool);

} // namespace dfc
