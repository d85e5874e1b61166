#include "ir/verify/overwrite.h"

#include "ir/base/assert.h"

namespace dfc {
namespace {

/// The access pattern of a kernel: the order of its reads against the writes of its result.
enum class Access : uint8_t {
  Nothing,  ///< it reads and writes no bytes of operands: sources, views
  Target,   ///< operand 0 is the destination and is not read; the others are copied there
  InStep,   ///< element i of the result is made of element i of each operand, which a broadcast repeats
  Epilogue, ///< the first two operands in any order throughout; the others in step with the result
  First,    ///< operand 0 in step with the result, or a row of it before that row is written; others anyhow
  AnyOrder, ///< an element of the result is made of other places, or of many
};

// No default: an op that is added has to say how it reads.
Access accessOf(OpKind kind) {
  switch (kind) {
#define DFC_ELEMENTWISE_OP(Type, text) case OpKind::Type:
#define DFC_OP(Type, text)
#include "ir/graph/graph.h"
#include "ir/graph/ops.def"
#undef DFC_OP
    return Access::InStep;
  case OpKind::Fused: return Access::InStep; // but for one that reduces
  case OpKind::FusedMatmul:
  case OpKind::FusedConv2d: return Access::Epilogue;
  case OpKind::Assign: return Access::Target;
  case OpKind::Softmax:
  case OpKind::LogSoftmax:
  case OpKind::SoftmaxCrossEntropyGradient:
  case OpKind::ScatterAdd:
  case OpKind::DynamicUpdateSlice: return Access::First;
  case OpKind::Input:
  case OpKind::Parameter:
  case OpKind::Constant:
  case OpKind::Reshape:
  case OpKind::Cut:
  case OpKind::StopGradient:
  case OpKind::Subview: return Access::Nothing;
  case OpKind::Transfer: // another device's arena
  case OpKind::Gradients:
  case OpKind::Custom: // nothing is known of its reads
  case OpKind::Matmul:
  case OpKind::ReduceSum:
  case OpKind::ReduceMean:
  case OpKind::ReduceMax:
  case OpKind::ReduceMin:
  case OpKind::ReduceProduct:
  case OpKind::CumSum:
  case OpKind::ArgMax:
  case OpKind::TopK:
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::LayerNorm:
  case OpKind::QuantizedMatmul:
  case OpKind::RmsNorm:
  case OpKind::LayerNormGradient:
  case OpKind::RmsNormGradient:
  case OpKind::BatchNorm:
  case OpKind::BatchNormTraining:
  case OpKind::BatchNormGradient:
  case OpKind::BatchNormSums:
  case OpKind::BatchNormPass:
  case OpKind::BatchNormGradientPass:
  case OpKind::Dropout: // its kernels promise nothing
  case OpKind::RandomUniform:
  case OpKind::Attention:
  case OpKind::AttentionGradient:
  case OpKind::Conv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient:
  case OpKind::MaxPool:
  case OpKind::MaxPoolGradient:
  case OpKind::AveragePool:
  case OpKind::AveragePoolGradient:
  case OpKind::Transpose:
  case OpKind::Broadcast:
  case OpKind::Concat:
  case OpKind::Split:
  case OpKind::Slice:
  case OpKind::DynamicSlice:
  case OpKind::Pad:
  case OpKind::Tile:
  case OpKind::Gather:
  case OpKind::OneHot:
  case OpKind::Iota:
  case OpKind::Trilu: return Access::AnyOrder;
  }
  DFC_UNREACHABLE("op kind");
}

bool reduces(const OpRow& row) {
  const auto* fused = row.getIf<ops::Fused>();
  return fused != nullptr && fused->reduction != ops::Fused::Reduction::None;
}

/// Whether element i of the two lies at the same bytes, for every i.
bool inStep(const TensorType& operand, const TensorType& result) {
  return operand.shape == result.shape && byteWidth(operand.element) == byteWidth(result.element);
}

} // namespace

bool mayOverwrite(const Graph& graph, OpId op, size_t index) {
  const OpRow& row = graph[op];
  const TensorType& result = graph.typeOf(row.firstResult);
  const TensorType& operand = graph.typeOf(row.operands[index]);
  switch (accessOf(row.kind())) {
  case Access::Nothing: return true;
  case Access::Target: return index == 0;
  case Access::InStep: return !reduces(row) && inStep(operand, result);
  case Access::Epilogue: // libraries take an addend in the result's type
    return index >= 2 && operand == result;
  case Access::First: return index == 0 && operand == result;
  case Access::AnyOrder: return false;
  }
  DFC_UNREACHABLE("access");
}

std::optional<size_t> sameBytesAs(OpKind kind) {
  return classOf(kind) == OpClass::View || kind == OpKind::Assign ? std::optional<size_t>(0) : std::nullopt;
}

} // namespace dfc
