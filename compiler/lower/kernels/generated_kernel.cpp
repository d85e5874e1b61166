// The one list that says which generator makes the kernels of each op.
#include "compiler/lower/kernels/generated_kernel.h"

#include "compiler/lower/kernels/attention/attention.h"
#include "compiler/lower/kernels/families.h"
#include "ir/base/assert.h"
#include "ir/graph/rules/op_rules.h"
#include "ir/machine/calibration.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::cuda {
namespace {

GeneratedKernels reduction(const TensorType& operand, ReductionKind kind, llvm::ArrayRef<int64_t> axes,
                           const GpuShape& gpu, int64_t meanOf = 0) {
  return reducedChain(identityChain(operand), operand.element, kind, operand.shape,
                      *normalAxes(axes, operand.shape.rank()), gpu, meanOf);
}

GeneratedKernels fused(const ops::Fused& op, OperandTypes operands, const TensorType& result,
                       const GpuShape& gpu) {
  const Chain chain = elementwiseChain(op, operands, result.element);
  const Shape common = *ops::Fused::commonShape(operands);
  switch (op.reduction) {
  case ops::Fused::Reduction::None: return streamedChain(chain, gpu);
  case ops::Fused::Reduction::Sum:
    return reducedChain(chain, result.element, ReductionKind::Sum, common, op.axes, gpu);
  case ops::Fused::Reduction::Mean:
    return reducedChain(chain, result.element, ReductionKind::Mean, common, op.axes, gpu, op.count);
  case ops::Fused::Reduction::Max:
    return reducedChain(chain, result.element, ReductionKind::Max, common, op.axes, gpu);
  }
  DFC_UNREACHABLE("reduction of a fused op");
}

// attention or its gradient; none beyond the limits of the kernels.
std::optional<GeneratedKernels> attention(const OpAttributes& attributes, OperandTypes operands,
                                          const GpuShape& gpu) {
  const auto* forward = attributes.getIf<ops::Attention>();
  const auto problem = forward != nullptr ? attentionProblem(*forward, operands, operands.size() == 4)
                                          : attentionProblem(attributes.as<ops::AttentionGradient>().forward,
                                                             operands, operands.size() == 7);
  if (!problem || !attentionKernelExists(*problem)) {
    return std::nullopt;
  }
  return forward != nullptr ? attentionKernels(*problem, gpu) : attentionGradientKernels(*problem, gpu);
}

std::optional<GeneratedKernels> kernelsFor(const OpAttributes& attributes, OperandTypes operands,
                                           OperandTypes results, const GpuShape& gpu) {
  const TensorType& result = results[0];
  switch (kindOf(attributes)) {
  case OpKind::Input:
  case OpKind::Parameter:
  case OpKind::Constant:
  case OpKind::Assign:
  case OpKind::Transfer:
  case OpKind::Gradients:
  case OpKind::Custom: // brings its own
  case OpKind::Matmul:
  case OpKind::FusedMatmul:
  case OpKind::FusedConv2d:
  case OpKind::Reshape:
  case OpKind::Cut:
  case OpKind::StopGradient:
  case OpKind::Subview: return std::nullopt;
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return streamedChain(elementwiseChain(attributes, operands, result.element), gpu);
  case OpKind::Fused: return fused(attributes.as<ops::Fused>(), operands, result, gpu);
  case OpKind::ReduceSum:
    return reduction(operands[0], ReductionKind::Sum, attributes.as<ops::ReduceSum>().axes, gpu);
  case OpKind::ReduceMean:
    return reduction(operands[0], ReductionKind::Mean, attributes.as<ops::ReduceMean>().axes, gpu,
                     attributes.as<ops::ReduceMean>().count);
  case OpKind::ReduceMax:
    return reduction(operands[0], ReductionKind::Max, attributes.as<ops::ReduceMax>().axes, gpu);
  case OpKind::ArgMax:
    return reduction(operands[0], ReductionKind::ArgMax, {attributes.as<ops::ArgMax>().axis}, gpu);
  case OpKind::Softmax: return softmaxKernel(attributes.as<ops::Softmax>().axis, false, result, gpu);
  case OpKind::LogSoftmax: return softmaxKernel(attributes.as<ops::LogSoftmax>().axis, true, result, gpu);
  case OpKind::SoftmaxCrossEntropy:
    return crossEntropyKernel(attributes.as<ops::SoftmaxCrossEntropy>(), operands, result.element, gpu);
  case OpKind::SoftmaxCrossEntropyGradient:
    return crossEntropyGradientKernel(attributes.as<ops::SoftmaxCrossEntropyGradient>(), operands, gpu);
  case OpKind::Transpose: return transposeKernel(attributes.as<ops::Transpose>(), operands[0], result, gpu);
  case OpKind::Broadcast: return broadcastKernel(operands[0], result, gpu);
  case OpKind::Concat: return concatKernel(attributes.as<ops::Concat>(), operands, result, gpu);
  case OpKind::Slice: return sliceKernel(attributes.as<ops::Slice>(), operands[0], result, gpu);
  case OpKind::DynamicSlice:
    return dynamicSliceKernel(attributes.as<ops::DynamicSlice>(), operands, result, gpu);
  case OpKind::DynamicUpdateSlice:
    return dynamicUpdateSliceKernel(attributes.as<ops::DynamicUpdateSlice>(), operands, gpu);
  case OpKind::Pad: return padKernel(attributes.as<ops::Pad>(), operands[0], result, gpu);
  case OpKind::ReduceMin:
    return reduction(operands[0], ReductionKind::Min, attributes.as<ops::ReduceMin>().axes, gpu);
  case OpKind::ReduceProduct:
    return reduction(operands[0], ReductionKind::Product, attributes.as<ops::ReduceProduct>().axes, gpu);
  case OpKind::CumSum: return cumSumKernel(attributes.as<ops::CumSum>(), operands[0], gpu);
  case OpKind::TopK: return topKKernel(attributes.as<ops::TopK>(), operands[0]);
  case OpKind::Split: return splitKernel(attributes.as<ops::Split>(), operands[0], results, gpu);
  case OpKind::Tile: return tileKernel(attributes.as<ops::Tile>(), operands[0], result, gpu);
  case OpKind::Gather: return gatherKernel(attributes.as<ops::Gather>(), operands, result, gpu);
  case OpKind::ScatterAdd: return scatterAddKernel(attributes.as<ops::ScatterAdd>(), operands, gpu);
  case OpKind::OneHot: return oneHotKernel(attributes.as<ops::OneHot>(), operands[0], result, gpu);
  case OpKind::Iota: return iotaKernel(attributes.as<ops::Iota>(), gpu);
  case OpKind::Trilu: return triluKernel(attributes.as<ops::Trilu>(), operands[0], gpu);
  case OpKind::LayerNorm: {
    const auto& op = attributes.as<ops::LayerNorm>();
    return normKernel(op.axis, op.epsilon, true, operands, results[0].element, gpu);
  }
  case OpKind::QuantizedMatmul:
    if (operands[0].element == ElementType::F64) { // its accumulators are f32
      return std::nullopt;
    }
    return quantizedProductKernel(attributes.as<ops::QuantizedMatmul>(), operands, gpu);
  case OpKind::RmsNorm: {
    const auto& op = attributes.as<ops::RmsNorm>();
    return normKernel(op.axis, op.epsilon, false, operands, results[0].element, gpu);
  }
  case OpKind::LayerNormGradient: {
    const auto& op = attributes.as<ops::LayerNormGradient>();
    return normGradientKernel({op.axis, op.epsilon, true, op.toScale, op.toBias}, operands, gpu);
  }
  case OpKind::RmsNormGradient: {
    const auto& op = attributes.as<ops::RmsNormGradient>();
    return normGradientKernel({op.axis, op.epsilon, false, op.toScale, false}, operands, gpu);
  }
  case OpKind::Attention:
  case OpKind::AttentionGradient: return attention(attributes, operands, gpu);
  case OpKind::Dropout: return dropoutKernel(attributes.as<ops::Dropout>(), operands[0], gpu);
  case OpKind::RandomUniform: return randomUniformKernel(attributes.as<ops::RandomUniform>(), gpu);
  case OpKind::BatchNorm: return batchNormKernel(attributes.as<ops::BatchNorm>(), operands, gpu);
  case OpKind::BatchNormTraining:
    return batchNormTrainingKernel(attributes.as<ops::BatchNormTraining>(), operands, gpu);
  case OpKind::BatchNormPass: return batchNormPassKernel(attributes.as<ops::BatchNormPass>(), operands, gpu);
  case OpKind::BatchNormGradientPass:
    return batchNormGradientPassKernel(attributes.as<ops::BatchNormGradientPass>(), operands, gpu);
  case OpKind::BatchNormSums: return batchNormSumsKernel(attributes.as<ops::BatchNormSums>(), operands, gpu);
  case OpKind::BatchNormGradient:
    return batchNormGradientKernel(attributes.as<ops::BatchNormGradient>(), operands, gpu);
  case OpKind::Conv2d: return convolutionKernel(attributes.as<ops::Conv2d>(), operands, result, gpu);
  case OpKind::Conv2dInputGradient:
    return convolutionKernel(attributes.as<ops::Conv2dInputGradient>(), operands, result, gpu);
  case OpKind::Conv2dFilterGradient:
    return convolutionKernel(attributes.as<ops::Conv2dFilterGradient>(), operands, result, gpu);
  case OpKind::MaxPool: return maxPoolKernel(attributes.as<ops::MaxPool>(), operands[0], result, gpu);
  case OpKind::MaxPoolGradient: return maxPoolGradientKernel(attributes.as<ops::MaxPoolGradient>(), operands);
  case OpKind::AveragePool:
    return averagePoolKernel(attributes.as<ops::AveragePool>(), operands[0], result, gpu);
  case OpKind::AveragePoolGradient:
    return averagePoolGradientKernel(attributes.as<ops::AveragePoolGradient>(), operands[0], result);
  }
  DFC_UNREACHABLE("op kind");
}

} // namespace

std::optional<GeneratedKernels> generateKernels(const OpAttributes& attributes, OperandTypes operands,
                                                OperandTypes results, const GpuShape& gpu) {
  const OpKind kind = kindOf(attributes);
  if (!isTimed(kind) || classOf(kind) == OpClass::Contraction || !resultTypes(attributes, operands).ok()) {
    return std::nullopt;
  }
  if (llvm::all_of(results, [](const TensorType& type) { return type.shape.elements() == 0; })) {
    return GeneratedKernels{};
  }
  return kernelsFor(attributes, operands, results, gpu);
}

} // namespace dfc::cuda
