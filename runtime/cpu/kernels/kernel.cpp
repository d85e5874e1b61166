// From an op to its kernel: one line an op, checked by the compiler to be complete.
#include "runtime/cpu/kernels/kernel.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/channels/batch_norm.h"
#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/indexing/indexing.h"
#include "runtime/cpu/kernels/matmul/fused_matmul.h"
#include "runtime/cpu/kernels/matmul/matmul.h"
#include "runtime/cpu/kernels/movement/movement.h"
#include "runtime/cpu/kernels/random/dropout.h"
#include "runtime/cpu/kernels/rows/rows.h"
#include "runtime/cpu/kernels/windows/convolution.h"
#include "runtime/cpu/kernels/windows/pools.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeCpuKernel(const OpAttributes& attributes, OperandTypes operands,
                                         OperandTypes results, ThreadPool& pool,
                                         const SharedBuffers& shared) {
  switch (kindOf(attributes)) {
  case OpKind::Input:
  case OpKind::Parameter:
  case OpKind::Constant:
  case OpKind::Transfer:
  case OpKind::Gradients: return nullptr;
  case OpKind::Matmul: return makeMatmulKernel(std::get<ops::Matmul>(attributes), operands, results, pool);
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return makeElementwiseKernel(attributes, operands, results, pool, shared);
  case OpKind::Fused:
    return std::get<ops::Fused>(attributes).reduction == ops::Fused::Reduction::None
               ? makeElementwiseKernel(attributes, operands, results, pool, shared)
               : makeReductionKernel(attributes, operands, results, pool);
  case OpKind::FusedMatmul:
    return makeFusedMatmulKernel(std::get<ops::FusedMatmul>(attributes), operands, results, pool);
  case OpKind::ReduceSum:
  case OpKind::ReduceMean:
  case OpKind::ReduceMax:
  case OpKind::ReduceMin:
  case OpKind::ReduceProduct: return makeReductionKernel(attributes, operands, results, pool);
  case OpKind::ArgMax: return makeArgMaxKernel(std::get<ops::ArgMax>(attributes), operands, pool);
  case OpKind::Softmax:
    return makeSoftmaxKernel(std::get<ops::Softmax>(attributes).axis, false, results[0], pool);
  case OpKind::LogSoftmax:
    return makeSoftmaxKernel(std::get<ops::LogSoftmax>(attributes).axis, true, results[0], pool);
  case OpKind::SoftmaxCrossEntropy: return makeCrossEntropyKernel(operands, pool);
  case OpKind::SoftmaxCrossEntropyGradient: return makeCrossEntropyGradientKernel(operands, pool);
  case OpKind::Assign:
  case OpKind::Reshape:
  case OpKind::Transpose:
  case OpKind::Broadcast:
  case OpKind::Concat:
  case OpKind::Slice:
  case OpKind::Pad:
  case OpKind::Split:
  case OpKind::Tile: return makeMovementKernel(attributes, operands, results, pool);
  case OpKind::CumSum: return makeCumSumKernel(std::get<ops::CumSum>(attributes), operands, pool);
  case OpKind::TopK: return makeTopKKernel(std::get<ops::TopK>(attributes), operands, pool);
  case OpKind::Gather: return makeGatherKernel(std::get<ops::Gather>(attributes), operands, pool);
  case OpKind::ScatterAdd: return makeScatterAddKernel(std::get<ops::ScatterAdd>(attributes), operands, pool);
  case OpKind::OneHot: return makeOneHotKernel(std::get<ops::OneHot>(attributes), operands, results, pool);
  case OpKind::Iota: return makeIotaKernel(std::get<ops::Iota>(attributes), pool);
  case OpKind::Trilu: return makeTriluKernel(std::get<ops::Trilu>(attributes), operands, pool);
  case OpKind::LayerNorm: {
    const auto& op = std::get<ops::LayerNorm>(attributes);
    return makeNormKernel(op.axis, op.epsilon, true, operands, pool);
  }
  case OpKind::RmsNorm: {
    const auto& op = std::get<ops::RmsNorm>(attributes);
    return makeNormKernel(op.axis, op.epsilon, false, operands, pool);
  }
  case OpKind::Dropout: return makeDropoutKernel(std::get<ops::Dropout>(attributes), operands, pool);
  case OpKind::BatchNorm: return makeBatchNormKernel(std::get<ops::BatchNorm>(attributes), operands, pool);
  case OpKind::BatchNormTraining:
    return makeBatchNormTrainingKernel(std::get<ops::BatchNormTraining>(attributes), operands, pool);
  case OpKind::BatchNormGradient:
    return makeBatchNormGradientKernel(std::get<ops::BatchNormGradient>(attributes), operands, pool);
  case OpKind::Conv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient: return makeConvolutionKernel(attributes, operands, results, pool);
  case OpKind::MaxPool: return makeMaxPoolKernel(std::get<ops::MaxPool>(attributes), operands, results, pool);
  case OpKind::MaxPoolGradient:
    return makeMaxPoolGradientKernel(std::get<ops::MaxPoolGradient>(attributes), operands, pool);
  case OpKind::AveragePool:
    return makeAveragePoolKernel(std::get<ops::AveragePool>(attributes), operands, results, pool);
  case OpKind::AveragePoolGradient:
    return makeAveragePoolGradientKernel(std::get<ops::AveragePoolGradient>(attributes), results, pool);
  }
  DFC_UNREACHABLE("op kind");
}

bool hasCpuKernel(const OpAttributes& attributes, OperandTypes operands, OperandTypes results) {
  (void)results;
  const OpClass opClass = classOf(kindOf(attributes));
  return opClass != OpClass::Source && opClass != OpClass::Transfer && opClass != OpClass::Request &&
         resultTypes(attributes, operands).ok();
}

} // namespace dfc
