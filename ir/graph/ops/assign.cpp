#include "ir/graph/ops/assign.h"
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

} // namespace dfc::ops
