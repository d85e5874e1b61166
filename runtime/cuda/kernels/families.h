// The generators that `generateKernels` chooses from, one for each family of ops. Types are those that the
// op's rule accepts and gives; results have elements.
#pragma once

#include "ir/machine/gpu_shape.h"
#include "runtime/cuda/kernels/chain.h"

namespace dfc::cuda {

/// Every element of the walk once, into a dense result.
GeneratedWork streamedChain(const Chain& chain, const GpuShape& gpu);

enum class Fold : uint8_t { Sum, Mean, Product, Max, Min, ArgMax };
/// Folds `axes` (ascending, counted from the front) of `shape`, whose elements the chain gives as `element`.
GeneratedWork foldedChain(const Chain& chain, ElementType element, Fold fold, const Shape& shape,
                          llvm::ArrayRef<int64_t> axes, const GpuShape& gpu);

GeneratedWork broadcastKernel(const TensorType& operand, const TensorType& result, const GpuShape& gpu);
GeneratedWork sliceKernel(const ops::Slice& op, const TensorType& operand, const TensorType& result,
                          const GpuShape& gpu);
GeneratedWork padKernel(const ops::Pad& op, const TensorType& operand, const TensorType& result,
                        const GpuShape& gpu);
GeneratedWork transposeKernel(const ops::Transpose& op, const TensorType& operand, const TensorType& result,
                              const GpuShape& gpu);
GeneratedWork tileKernel(const ops::Tile& op, const TensorType& operand, const TensorType& result,
                         const GpuShape& gpu);
GeneratedWork triluKernel(const ops::Trilu& op, const TensorType& type, const GpuShape& gpu);
GeneratedWork concatKernel(const ops::Concat& op, OperandTypes operands, const TensorType& result,
                           const GpuShape& gpu);
GeneratedWork splitKernel(const ops::Split& op, const TensorType& operand, OperandTypes results,
                          const GpuShape& gpu);

GeneratedWork gatherKernel(const ops::Gather& op, OperandTypes operands, const TensorType& result,
                           const GpuShape& gpu);
GeneratedWork scatterAddKernel(const ops::ScatterAdd& op, OperandTypes operands, const GpuShape& gpu);
GeneratedWork oneHotKernel(const ops::OneHot& op, const TensorType& indices, const TensorType& result,
                           const GpuShape& gpu);
GeneratedWork iotaKernel(const ops::Iota& op, const GpuShape& gpu);
GeneratedWork topKKernel(const ops::TopK& op, const TensorType& operand);
GeneratedWork cumSumKernel(const ops::CumSum& op, const TensorType& operand, const GpuShape& gpu);

GeneratedWork softmaxKernel(int64_t axis, bool logarithm, const TensorType& type, const GpuShape& gpu);
GeneratedWork crossEntropyKernel(OperandTypes operands, const GpuShape& gpu);
GeneratedWork crossEntropyGradientKernel(OperandTypes operands, const GpuShape& gpu);

/// layerNorm (`centred`) or rmsNorm over `axis` and all after it.
GeneratedWork normKernel(int64_t axis, double epsilon, bool centred, OperandTypes operands,
                         const GpuShape& gpu);
GeneratedWork dropoutKernel(const ops::Dropout& op, const TensorType& operand, const GpuShape& gpu);
GeneratedWork convolutionKernel(const ops::Conv2d& op, OperandTypes operands, const TensorType& result,
                                const GpuShape& gpu);
GeneratedWork convolutionKernel(const ops::Conv2dInputGradient& op, OperandTypes operands,
                                const TensorType& result, const GpuShape& gpu);
GeneratedWork convolutionKernel(const ops::Conv2dFilterGradient& op, OperandTypes operands,
                                const TensorType& result, const GpuShape& gpu);
GeneratedWork maxPoolKernel(const ops::MaxPool& op, const TensorType& image, const TensorType& result,
                            const GpuShape& gpu);
GeneratedWork maxPoolGradientKernel(const ops::MaxPoolGradient& op, OperandTypes operands);
GeneratedWork averagePoolKernel(const ops::AveragePool& op, const TensorType& image, const TensorType& result,
                                const GpuShape& gpu);
GeneratedWork averagePoolGradientKernel(const ops::AveragePoolGradient& op, const TensorType& cotangent,
                                        const TensorType& result);

GeneratedWork batchNormKernel(const ops::BatchNorm& op, const TensorType& a, const GpuShape& gpu);
GeneratedWork batchNormTrainingKernel(const ops::BatchNormTraining& op, const TensorType& a,
                                      const GpuShape& gpu);
GeneratedWork batchNormGradientKernel(const ops::BatchNormGradient& op, const TensorType& a,
                                      const GpuShape& gpu);

} // namespace dfc::cuda
