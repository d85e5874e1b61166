#include "ir/graph/ops/movement/cut.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Cut::types(OperandTypes operands) const {
  if (TypeResult known = checkAxis(OpKind::Cut, operands, axis); !known.ok()) {
    return known;
  }
  if (devices.empty()) {
    return refuse(OpKind::Cut, operands, "devices is empty",
                  "name two devices or more by a glob, such as 'gpu*'");
  }
  return TypeResult::of(operands.front());
}

OpCost Cut::cost(OperandTypes, OperandTypes) const { return {}; }

SplitRule Cut::split(OperandTypes operands, OperandTypes results) const {
  return elementwiseSplit(operands, results).with({{0}});
}

} // namespace dfc::ops
