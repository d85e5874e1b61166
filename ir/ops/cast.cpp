// cast: the gradient is cast back; through an integer or bool none passes.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Cast::types(OperandTypes operands) const { return TypeResult::of({to, operands.front().shape}); }

OpCost Cast::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Cast::gradient(GradientRule& rule) const {
  const ElementType from = rule.operand(0).type().element;
  rule.give(0, from == to ? rule.cotangent() : dfc::cast(rule.cotangent(), from));
}

} // namespace dfc::ops
