// add: d(a + b) = da + db.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Add::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Add, operands, Domain::Number);
}

OpCost Add::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Add::gradient(GradientRule& rule) const {
  rule.give(0, rule.cotangent());
  rule.give(1, rule.cotangent());
}

} // namespace dfc::ops
