#include "ir/graph/ops/window/max_pool.h"
#include "ir/graph/rules/windows.h"

namespace dfc::ops {

TypeResult MaxPool::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::MaxPool;
  if (TypeResult elements = checkElements(kind, operands, Domain::Number); !elements.ok()) {
    return elements;
  }
  return poolTypes(kind, operands, operands[0].shape, windowAttributes(*this), false);
}

OpCost MaxPool::cost(OperandTypes operands, OperandTypes results) const {
  const Windows windows = windowsOf(operands[0].shape, windowAttributes(*this));
  return streamingCost(operands, results, static_cast<double>(windows.size()));
}

} // namespace dfc::ops
