// sub: d(a - b) = da - db.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sub::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sub, operands, Domain::Number);
}

OpCost Sub::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Sub::gradient(GradientRule& rule) const {
  rule.give(0, rule.cotangent());
  if (rule.wanted(1)) {
    rule.give(1, -rule.cotangent());
  }
}

} // namespace dfc::ops
