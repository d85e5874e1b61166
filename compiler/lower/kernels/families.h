// The generators that `generateKernels` chooses from, one for each family of ops. Types are those that the
// op's rule accepts and gives; results have elements.
#pragma once

#include "compiler/lower/kernels/chain.h"
#include "ir/graph/rules/norm_rules.h"
#include "ir/machine/gpu_shape.h"

namespace dfc::cuda {

/// Every element of the walk once, into a dense result.
GeneratedKernels streamedChain(const Chain& chain, const GpuShape& gpu);

enum class ReductionKind : uint8_t { Sum, Mean, Product, Max, Min, ArgMax };
/// Reduces `axes` (ascending, counted from the front) of `shape`, whose elements the chain gives as
/// `element`. `meanOf`: the divisor of a mean; 0: the number of reduced elements.
GeneratedKernels reducedChain(const Chain& chain, ElementType element, ReductionKind kind, const Shape& shape,
                              llvm::ArrayRef<int64_t> axes, const GpuShape& gpu, int64_t meanOf = 0);

/// Text that subtracts the part's start from an index along the whole axis; empty where the start is 0.
std::string shiftText(const AxisPart& part);

GeneratedKernels broadcastKernel(const TensorType& operand, const TensorType& result, const GpuShape& gpu);
GeneratedKernels sliceKernel(const ops::Slice& op, const TensorType& operand, const TensorType& result,
                             const GpuShape& gpu);
GeneratedKernels padKernel(const ops::Pad& op, const TensorType& operand, const TensorType& result,
                           const GpuShape& gpu);
GeneratedKernels transposeKernel(const ops::Transpose& op, const TensorType& operand,
                                 const TensorType& result, const GpuShape& gpu);
GeneratedKernels tileKernel(const ops::Tile& op, const TensorType& operand, const TensorType& result,
                            const GpuShape& gpu);
GeneratedKernels triluKernel(const ops::Trilu& op, const TensorType& type, const GpuShape& gpu);
GeneratedKernels concatKernel(const ops::Concat& op, OperandTypes operands, const TensorType& result,
                              const GpuShape& gpu);
GeneratedKernels splitKernel(const ops::Split& op, const TensorType& operand, OperandTypes results,
                             const GpuShape& gpu);

GeneratedKernels gatherKernel(const ops::Gather& op, OperandTypes operands, const TensorType& result,
                              const GpuShape& gpu);
GeneratedKernels scatterAddKernel(const ops::ScatterAdd& op, OperandTypes operands, const GpuShape& gpu);
GeneratedKernels dynamicSliceKernel(const ops::DynamicSlice& op, OperandTypes operands,
                                    const TensorType& result, const GpuShape& gpu);
GeneratedKernels dynamicUpdateSliceKernel(const ops::DynamicUpdateSlice& op, OperandTypes operands,
                                          const GpuShape& gpu);
GeneratedKernels oneHotKernel(const ops::OneHot& op, const TensorType& indices, const TensorType& result,
                              const GpuShape& gpu);
GeneratedKernels iotaKernel(const ops::Iota& op, const GpuShape& gpu);
GeneratedKernels topKKernel(const ops::TopK& op, const TensorType& operand);
GeneratedKernels cumSumKernel(const ops::CumSum& op, const TensorType& operand, const GpuShape& gpu);

GeneratedKernels softmaxKernel(int64_t axis, bool logarithm, const TensorType& type, const GpuShape& gpu);
/// `loss`: the type of the result.
GeneratedKernels crossEntropyKernel(const ops::SoftmaxCrossEntropy& op, OperandTypes operands,
                                    ElementType loss, const GpuShape& gpu);
GeneratedKernels crossEntropyGradientKernel(const ops::SoftmaxCrossEntropyGradient& op, OperandTypes operands,
                                            const GpuShape& gpu);

/// quantizedMatmul of few rows.
GeneratedKernels quantizedProductKernel(const ops::QuantizedMatmul& op, OperandTypes operands,
                                        const GpuShape& gpu);
/// layerNorm (`centred`) or rmsNorm over `axis` and all after it.
GeneratedKernels normKernel(int64_t axis, double epsilon, bool centred, OperandTypes operands,
                            ElementType result, const GpuShape& gpu);
GeneratedKernels normGradientKernel(const NormGradientForm& form, OperandTypes operands, const GpuShape& gpu);
GeneratedKernels dropoutKernel(const ops::Dropout& op, const TensorType& operand, const GpuShape& gpu);
GeneratedKernels randomUniformKernel(const ops::RandomUniform& op, const GpuShape& gpu);
GeneratedKernels convolutionKernel(const ops::Conv2d& op, OperandTypes operands, const TensorType& result,
                                   const GpuShape& gpu);
GeneratedKernels convolutionKernel(const ops::Conv2dInputGradient& op, OperandTypes operands,
                                   const TensorType& result, const GpuShape& gpu);
GeneratedKernels convolutionKernel(const ops::Conv2dFilterGradient& op, OperandTypes operands,
                                   const TensorType& result, const GpuShape& gpu);
GeneratedKernels maxPoolKernel(const ops::MaxPool& op, const TensorType& image, const TensorType& result,
                               const GpuShape& gpu);
GeneratedKernels maxPoolGradientKernel(const ops::MaxPoolGradient& op, OperandTypes operands);
GeneratedKernels averagePoolKernel(const ops::AveragePool& op, const TensorType& image,
                                   const TensorType& result, const GpuShape& gpu);
GeneratedKernels averagePoolGradientKernel(const ops::AveragePoolGradient& op, const TensorType& cotangent,
                                           const TensorType& result);

GeneratedKernels batchNormKernel(const ops::BatchNorm& op, OperandTypes operands, const GpuShape& gpu);
GeneratedKernels batchNormTrainingKernel(const ops::BatchNormTraining& op, OperandTypes operands,
                                         const GpuShape& gpu);
GeneratedKernels batchNormPassKernel(const ops::BatchNormPass& op, OperandTypes operands,
                                     const GpuShape& gpu);
GeneratedKernels batchNormGradientPassKernel(const ops::BatchNormGradientPass& op, OperandTypes operands,
                                             const GpuShape& gpu);
GeneratedKernels batchNormSumsKernel(const ops::BatchNormSums& op, OperandTypes operands,
                                     const GpuShape& gpu);
GeneratedKernels batchNormGradientKernel(const ops::BatchNormGradient& op, OperandTypes operands,
                                         const GpuShape& gpu);

} // namespace dfc::cuda
