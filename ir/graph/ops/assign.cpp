// assign: at most a copy of the value into the parameter. Its result is the value, so the gradient goes
// there; the parameter that it overwrites has no influence on it.
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult Assign::types(OperandTypes operands) const {
  if (operands[0] == operands[1]) {
    return TypeResult::of(operands[0]);
  }
  return TypeResult::fail(
      fmt::format("assign of {} to a parameter of {}", toString(operands[1]), toString(operands[0])),
      "the next value has the parameter's element type and shape; cast, reduce or reshape it");
}

OpCost Assign::cost(OperandTypes, OperandTypes results) const { return movementCost(results); }

void Assign::gradient(GradientRule& rule) const {
  rule.independentOf(0);
  rule.give(1, rule.cotangent());
}

} // namespace dfc::ops
