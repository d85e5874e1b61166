// From an op to its kernel: one line an op, checked by the compiler to be complete.
#include "runtime/cpu/kernels/kernel.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/layout.h"
#include "runtime/cpu/kernels/attention/attention.h"
#include "runtime/cpu/kernels/channels/batch_norm.h"
#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/indexing/indexing.h"
#include "runtime/cpu/kernels/matmul/fused_matmul.h"
#include "runtime/cpu/kernels/matmul/matmul.h"
#include "runtime/cpu/kernels/matmul/quantized_matmul.h"
#include "runtime/cpu/kernels/movement/dynamic_box.h"
#include "runtime/cpu/kernels/movement/movement.h"
#include "runtime/cpu/kernels/random/dropout.h"
#include "runtime/cpu/kernels/random/random_uniform.h"
#include "runtime/cpu/kernels/rows/rows.h"
#include "runtime/cpu/kernels/windows/channels_last.h"
#include "runtime/cpu/kernels/windows/convolution.h"
#include "runtime/cpu/kernels/windows/last_input_gradient.h"
#include "runtime/cpu/kernels/windows/last_pools.h"
#include "runtime/cpu/kernels/windows/pools.h"
#include "runtime/cpu/kernels/windows/strip_convolution.h"

namespace dfc {
namespace {

/// A kernel for channels that are last, without transposes; null where there is none.
std::unique_ptr<CpuKernel> makeLastKernel(const OpAttributes& attributes, OperandTypes operands,
                                          OperandTypes results, ThreadPool& pool) {
  switch (attributes.kind()) {
  case OpKind::Conv2d: return makeStripConvolution(attributes.as<ops::Conv2d>(), operands, results, pool);
  case OpKind::Conv2dInputGradient:
    return makeLastInputGradient(attributes.as<ops::Conv2dInputGradient>(), operands, results, pool);
  case OpKind::MaxPool: return makeLastMaxPool(attributes.as<ops::MaxPool>(), operands, results, pool);
  case OpKind::AveragePool:
    return makeLastAveragePool(attributes.as<ops::AveragePool>(), operands, results, pool);
  default: return nullptr;
  }
}

} // namespace

std::unique_ptr<CpuKernel> makeCpuKernel(const OpAttributes& attributes, OperandTypes operands,
                                         OperandTypes results, ThreadPool& pool,
                                         const SharedBuffers& shared) {
  if (const auto channelsFirst = channelsFirstForm(attributes)) {
    if (auto kernel = makeLastKernel(attributes, operands, results, pool)) {
      return kernel;
    }
    return makeChannelsLastKernel(attributes, *channelsFirst, operands, results, pool);
  }
  switch (kindOf(attributes)) {
  case OpKind::Input:
  case OpKind::Parameter:
  case OpKind::Constant:
  case OpKind::Transfer:
  case OpKind::Custom: // runtime/custom/custom_kernel.h
  case OpKind::Gradients: return nullptr;
  case OpKind::Matmul: return makeMatmulKernel(attributes.as<ops::Matmul>(), operands, results, pool);
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return makeElementwiseKernel(attributes, operands, results, pool, shared);
  case OpKind::Fused:
    return attributes.as<ops::Fused>().reduction == ops::Fused::Reduction::None
               ? makeElementwiseKernel(attributes, operands, results, pool, shared)
               : makeReductionKernel(attributes, operands, results, pool);
  case OpKind::FusedMatmul:
    return makeFusedMatmulKernel(attributes.as<ops::FusedMatmul>(), operands, results, pool);
  case OpKind::ReduceSum:
  case OpKind::ReduceMean:
  case OpKind::ReduceMax:
  case OpKind::ReduceMin:
  case OpKind::ReduceProduct: return makeReductionKernel(attributes, operands, results, pool);
  case OpKind::ArgMax: return makeArgMaxKernel(attributes.as<ops::ArgMax>(), operands, pool);
  case OpKind::Softmax: return makeSoftmaxKernel(attributes.as<ops::Softmax>().axis, false, results[0], pool);
  case OpKind::LogSoftmax:
    return makeSoftmaxKernel(attributes.as<ops::LogSoftmax>().axis, true, results[0], pool);
  case OpKind::SoftmaxCrossEntropy:
    return makeCrossEntropyKernel(attributes.as<ops::SoftmaxCrossEntropy>(), operands, results[0].element,
                                  pool);
  case OpKind::SoftmaxCrossEntropyGradient:
    return makeCrossEntropyGradientKernel(attributes.as<ops::SoftmaxCrossEntropyGradient>(), operands, pool);
  case OpKind::Assign:
  case OpKind::Reshape:
  case OpKind::Cut:
  case OpKind::StopGradient:
  case OpKind::Subview:
  case OpKind::Transpose:
  case OpKind::Broadcast:
  case OpKind::Concat:
  case OpKind::Slice:
  case OpKind::Pad:
  case OpKind::Split:
  case OpKind::Tile: return makeMovementKernel(attributes, operands, results, pool);
  case OpKind::DynamicSlice:
    return makeDynamicSliceKernel(attributes.as<ops::DynamicSlice>(), operands, results, pool);
  case OpKind::DynamicUpdateSlice:
    return makeDynamicUpdateSliceKernel(attributes.as<ops::DynamicUpdateSlice>(), operands, pool);
  case OpKind::CumSum: return makeCumSumKernel(attributes.as<ops::CumSum>(), operands, pool);
  case OpKind::TopK: return makeTopKKernel(attributes.as<ops::TopK>(), operands, pool);
  case OpKind::Gather: return makeGatherKernel(attributes.as<ops::Gather>(), operands, pool);
  case OpKind::ScatterAdd: return makeScatterAddKernel(attributes.as<ops::ScatterAdd>(), operands, pool);
  case OpKind::OneHot: return makeOneHotKernel(attributes.as<ops::OneHot>(), operands, results, pool);
  case OpKind::Iota: return makeIotaKernel(attributes.as<ops::Iota>(), pool);
  case OpKind::Trilu: return makeTriluKernel(attributes.as<ops::Trilu>(), operands, pool);
  case OpKind::LayerNorm: {
    const auto& op = attributes.as<ops::LayerNorm>();
    return makeNormKernel(op.axis, op.epsilon, true, operands, results[0].element, pool);
  }
  case OpKind::QuantizedMatmul:
    return makeQuantizedMatmulKernel(attributes.as<ops::QuantizedMatmul>(), operands, pool);
  case OpKind::RmsNorm: {
    const auto& op = attributes.as<ops::RmsNorm>();
    return makeNormKernel(op.axis, op.epsilon, false, operands, results[0].element, pool);
  }
  case OpKind::LayerNormGradient: {
    const auto& op = attributes.as<ops::LayerNormGradient>();
    return makeNormGradientKernel({op.axis, op.epsilon, true, op.toScale, op.toBias}, operands, pool);
  }
  case OpKind::RmsNormGradient: {
    const auto& op = attributes.as<ops::RmsNormGradient>();
    return makeNormGradientKernel({op.axis, op.epsilon, false, op.toScale, false}, operands, pool);
  }
  case OpKind::Attention: return makeAttentionKernel(attributes.as<ops::Attention>(), operands, pool);
  case OpKind::AttentionGradient:
    return makeAttentionGradientKernel(attributes.as<ops::AttentionGradient>(), operands, pool);
  case OpKind::Dropout: return makeDropoutKernel(attributes.as<ops::Dropout>(), operands, pool);
  case OpKind::RandomUniform: return makeRandomUniformKernel(attributes.as<ops::RandomUniform>(), pool);
  case OpKind::BatchNorm: return makeBatchNormKernel(attributes.as<ops::BatchNorm>(), operands, pool);
  case OpKind::BatchNormTraining:
    return makeBatchNormTrainingKernel(attributes.as<ops::BatchNormTraining>(), operands, pool);
  case OpKind::BatchNormPass:
    return makeBatchNormPassKernel(attributes.as<ops::BatchNormPass>(), operands, pool);
  case OpKind::BatchNormGradientPass:
    return makeBatchNormGradientPassKernel(attributes.as<ops::BatchNormGradientPass>(), operands, pool);
  case OpKind::BatchNormSums:
    return makeBatchNormSumsKernel(attributes.as<ops::BatchNormSums>(), operands, pool);
  case OpKind::BatchNormGradient:
    return makeBatchNormGradientKernel(attributes.as<ops::BatchNormGradient>(), operands, pool);
  case OpKind::FusedConv2d:
    return makeFusedConv2dKernel(attributes.as<ops::FusedConv2d>(), operands, results, pool);
  case OpKind::Conv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient: return makeConvolutionKernel(attributes, operands, results, pool);
  case OpKind::MaxPool: return makeMaxPoolKernel(attributes.as<ops::MaxPool>(), operands, results, pool);
  case OpKind::MaxPoolGradient:
    return makeMaxPoolGradientKernel(attributes.as<ops::MaxPoolGradient>(), operands, pool);
  case OpKind::AveragePool:
    return makeAveragePoolKernel(attributes.as<ops::AveragePool>(), operands, results, pool);
  case OpKind::AveragePoolGradient:
    return makeAveragePoolGradientKernel(attributes.as<ops::AveragePoolGradient>(), results, pool);
  }
  DFC_UNREACHABLE("op kind");
}

bool hasCpuKernel(const OpAttributes& attributes, OperandTypes operands, OperandTypes results) {
  (void)results;
  const OpClass opClass = classOf(kindOf(attributes));
  return opClass != OpClass::Source && opClass != OpClass::Transfer && opClass != OpClass::Request &&
         opClass != OpClass::Custom && resultTypes(attributes, operands).ok();
}

} // namespace dfc
