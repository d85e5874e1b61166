#include "ir/graph/ops/window/average_pool.h"
#include "ir/graph/rules/windows.h"

namespace dfc::ops {

TypeResult AveragePool::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::AveragePool;
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  return poolTypes(kind, operands, operands[0].shape, windowAttributes(*this), countPadding);
}

OpCost AveragePool::cost(OperandTypes operands, OperandTypes results) const {
  const Windows windows = windowsOf(operands[0].shape, windowAttributes(*this));
  return streamingCost(operands, results, static_cast<double>(windows.size()) + divFlops);
}

} // namespace dfc::ops
