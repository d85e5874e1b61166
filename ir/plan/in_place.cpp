#include "ir/plan/in_place.h"

namespace dfc {
namespace {

// Rows are read whole before they are written; scatterAdd and dynamicUpdateSlice read an element
// of their first operand once, for that element of their result.
bool readsFirstInStep(OpKind kind) {
  switch (kind) {
  case OpKind::Softmax:
  case OpKind::LogSoftmax:
  case OpKind::SoftmaxCrossEntropyGradient:
  case OpKind::ScatterAdd:
  case OpKind::DynamicUpdateSlice: return true;
  default: return false;
  }
}

} // namespace

bool mayRunInPlace(const Graph& graph, OpId op, size_t index) {
  const OpRow& row = graph[op];
  const TensorType& result = graph.typeOf(row.firstResult);
  if (classOf(row.kind()) == OpClass::View) {
    return true;
  }
  if (row.kind() == OpKind::Assign) {
    return index == 0;
  }
  if (liesInSubview(graph, row.operands[index])) {
    return false;
  }
  if (row.kind() == OpKind::FusedMatmul || row.kind() == OpKind::FusedConv2d) {
    return index >= 2 && graph.typeOf(row.operands[index]) == result;
  }
  if (readsFirstInStep(row.kind())) {
    return index == 0;
  }
  const auto* fused = row.getIf<ops::Fused>();
  const bool streams = fused != nullptr ? fused->reduction == ops::Fused::Reduction::None
                                        : classOf(row.kind()) == OpClass::Elementwise;
  return streams && graph.typeOf(row.operands[index]) == result;
}

bool liesInSubview(const Graph& graph, ValueId value) {
  OpId producer = graph[value].producer, reader;
  while (classOf(graph[producer].kind()) == OpClass::View && graph[producer].kind() != OpKind::Subview) {
    reader = producer;
    producer = graph[graph[reader].operands[0]].producer;
    if (reader <= producer) { // of a graph that is none: operands are older
      return false;
    }
  }
  return graph[producer].kind() == OpKind::Subview;
}

std::optional<size_t> sharesStorageWith(const OpRow& row) {
  const bool shares = classOf(row.kind()) == OpClass::View || row.kind() == OpKind::Assign;
  return shares ? std::optional<size_t>(0) : std::nullopt;
}

} // namespace dfc
