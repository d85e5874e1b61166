#include "ir/plan/in_place.h"

namespace dfc {

bool mayRunInPlace(const Graph& graph, OpId op, size_t index) {
  const OpRow& row = graph[op];
  const TensorType& result = graph.typeOf(row.firstResult);
  if (classOf(row.kind()) == OpClass::View) {
    return true;
  }
  if (row.kind() == OpKind::Assign) {
    return index == 0;
  }
  if (row.kind() == OpKind::FusedMatmul) {
    return index >= 2 && graph.typeOf(row.operands[index]) == result;
  }
  const auto* fused = row.getIf<ops::Fused>();
  const bool streams = fused != nullptr ? fused->reduction == ops::Fused::Reduction::None
                                        : classOf(row.kind()) == OpClass::Elementwise;
  return streams && graph.typeOf(row.operands[index]) == result;
}

std::optional<size_t> sharesStorageWith(const OpRow& row) {
  const bool shares = classOf(row.kind()) == OpClass::View || row.kind() == OpKind::Assign;
  return shares ? std::optional<size_t>(0) : std::nullopt;
}

} // namespace dfc
