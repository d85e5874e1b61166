// relu: the gradient passes where the result is positive. From the result, which the next layer keeps anyway,
// so that the operand's memory is free after the forward step.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Relu::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Relu, operands, Domain::Number);
}

OpCost Relu::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Relu::gradient(GradientRule& rule) const {
  const Tensor positive = compare(rule.result(), 0, Direction::Gt);
  rule.give(0, select(positive, rule.cotangent(), 0));
}

} // namespace dfc::ops
