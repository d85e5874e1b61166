// maxPool: its gradient is an op of its own, which finds the largest element of each window again.
#include "ir/author/gradients.h"
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

void MaxPool::gradient(GradientRule& rule) const {
  MaxPoolGradient op;
  op.window = window;
  op.strides = strides;
  op.low = low;
  op.high = high;
  op.dilations = dilations;
  rule.give(0, rule.builder().op(std::move(op), {rule.operand(0), rule.cotangent()},
                                 std::source_location::current()));
}

} // namespace dfc::ops
