// The one list that says which generator makes the kernels of each op.
#include "runtime/cuda/kernels/generated_kernel.h"

#include "ir/base/assert.h"
#include "ir/machine/calibration.h"
#include "ir/graph/rules/op_rules.h"
#include "runtime/cuda/kernels/families.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::cuda {
namespace {

GeneratedWork folded(const TensorType& operand, Fold fold, llvm::ArrayRef<int64_t> axes) {
  return foldedChain(identityChain(operand), operand.element, fold, operand.shape,
                     *normalAxes(axes, operand.shape.rank()));
}

GeneratedWork fused(const ops::Fused& op, OperandTypes operands, const TensorType& result) {
  const Chain chain = elementwiseChain(op, operands, result.element);
  const Shape common = *ops::Fused::commonShape(operands);
  switch (op.reduction) {
  case ops::Fused::Reduction::None: return streamedChain(chain);
  case ops::Fused::Reduction::Sum: return foldedChain(chain, result.element, Fold::Sum, common, op.axes);
  case ops::Fused::Reduction::Mean: return foldedChain(chain, result.element, Fold::Mean, common, op.axes);
  case ops::Fused::Reduction::Max: return foldedChain(chain, result.element, Fold::Max, common, op.axes);
  }
  DFC_UNREACHABLE("reduction of a fused op");
}

std::optional<GeneratedWork> kernelsFor(const OpAttributes& attributes, OperandTypes operands,
                                        OperandTypes results) {
  const TensorType& result = results[0];
  switch (kindOf(attributes)) {
  case OpKind::Input:
  case OpKind::Parameter:
  case OpKind::Constant:
  case OpKind::Assign:
  case OpKind::Transfer:
  case OpKind::Gradients:
  case OpKind::Matmul:
  case OpKind::FusedMatmul:
  case OpKind::Reshape: return std::nullopt;
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return streamedChain(elementwiseChain(attributes, operands, result.element));
  case OpKind::Fused: return fused(std::get<ops::Fused>(attributes), operands, result);
  case OpKind::ReduceSum: return folded(operands[0], Fold::Sum, std::get<ops::ReduceSum>(attributes).axes);
  case OpKind::ReduceMean: return folded(operands[0], Fold::Mean, std::get<ops::ReduceMean>(attributes).axes);
  case OpKind::ReduceMax: return folded(operands[0], Fold::Max, std::get<ops::ReduceMax>(attributes).axes);
  case OpKind::ArgMax: return folded(operands[0], Fold::ArgMax, {std::get<ops::ArgMax>(attributes).axis});
  case OpKind::Softmax: return softmaxKernel(std::get<ops::Softmax>(attributes).axis, false, result);
  case OpKind::LogSoftmax: return softmaxKernel(std::get<ops::LogSoftmax>(attributes).axis, true, result);
  case OpKind::SoftmaxCrossEntropy: return crossEntropyKernel(operands);
  case OpKind::SoftmaxCrossEntropyGradient: return crossEntropyGradientKernel(operands);
  case OpKind::Transpose: return transposeKernel(std::get<ops::Transpose>(attributes), operands[0], result);
  case OpKind::Broadcast: return broadcastKernel(operands[0], result);
  case OpKind::Concat: return concatKernel(std::get<ops::Concat>(attributes), operands, result);
  case OpKind::Slice: return sliceKernel(std::get<ops::Slice>(attributes), operands[0], result);
  case OpKind::Pad: return padKernel(std::get<ops::Pad>(attributes), operands[0], result);
  case OpKind::ReduceMin: return folded(operands[0], Fold::Min, std::get<ops::ReduceMin>(attributes).axes);
  case OpKind::ReduceProduct:
    return folded(operands[0], Fold::Product, std::get<ops::ReduceProduct>(attributes).axes);
  case OpKind::CumSum: return cumSumKernel(std::get<ops::CumSum>(attributes), operands[0]);
  case OpKind::TopK: return topKKernel(std::get<ops::TopK>(attributes), operands[0]);
  case OpKind::Split: return splitKernel(std::get<ops::Split>(attributes), operands[0], results);
  case OpKind::Tile: return tileKernel(std::get<ops::Tile>(attributes), operands[0], result);
  case OpKind::Gather: return gatherKernel(std::get<ops::Gather>(attributes), operands, result);
  case OpKind::ScatterAdd: return scatterAddKernel(std::get<ops::ScatterAdd>(attributes), operands);
  case OpKind::OneHot: return oneHotKernel(std::get<ops::OneHot>(attributes), operands[0], result);
  case OpKind::Iota: return iotaKernel(std::get<ops::Iota>(attributes));
  case OpKind::Trilu: return triluKernel(std::get<ops::Trilu>(attributes), operands[0]);
  case OpKind::LayerNorm: {
    const auto& op = std::get<ops::LayerNorm>(attributes);
    return normKernel(op.axis, op.epsilon, true, operands);
  }
  case OpKind::RmsNorm: {
    const auto& op = std::get<ops::RmsNorm>(attributes);
    return normKernel(op.axis, op.epsilon, false, operands);
  }
  case OpKind::Dropout: return dropoutKernel(std::get<ops::Dropout>(attributes), operands[0]);
  case OpKind::BatchNorm: return batchNormKernel(std::get<ops::BatchNorm>(attributes), operands[0]);
  case OpKind::BatchNormTraining:
    return batchNormTrainingKernel(std::get<ops::BatchNormTraining>(attributes), operands[0]);
  case OpKind::BatchNormGradient:
    return batchNormGradientKernel(std::get<ops::BatchNormGradient>(attributes), operands[0]);
  case OpKind::Conv2d: return convolutionKernel(std::get<ops::Conv2d>(attributes), operands, result);
  case OpKind::Conv2dInputGradient:
    return convolutionKernel(std::get<ops::Conv2dInputGradient>(attributes), operands, result);
  case OpKind::Conv2dFilterGradient:
    return convolutionKernel(std::get<ops::Conv2dFilterGradient>(attributes), operands, result);
  case OpKind::MaxPool: return maxPoolKernel(std::get<ops::MaxPool>(attributes), operands[0], result);
  case OpKind::MaxPoolGradient:
    return maxPoolGradientKernel(std::get<ops::MaxPoolGradient>(attributes), operands);
  case OpKind::AveragePool:
    return averagePoolKernel(std::get<ops::AveragePool>(attributes), operands[0], result);
  case OpKind::AveragePoolGradient:
    return averagePoolGradientKernel(std::get<ops::AveragePoolGradient>(attributes), operands[0], result);
  }
  DFC_UNREACHABLE("op kind");
}

} // namespace

std::optional<GeneratedWork> generateKernels(const OpAttributes& attributes, OperandTypes operands,
                                             OperandTypes results) {
  const OpKind kind = kindOf(attributes);
  if (!isTimed(kind) || classOf(kind) == OpClass::Contraction || !resultTypes(attributes, operands).ok()) {
    return std::nullopt;
  }
  if (llvm::all_of(results, [](const TensorType& type) { return type.shape.elements() == 0; })) {
    return GeneratedWork{};
  }
  return kernelsFor(attributes, operands, results);
}

} // namespace dfc::cuda
