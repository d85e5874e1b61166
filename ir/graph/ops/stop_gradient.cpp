#include "ir/graph/ops/stop_gradient.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult StopGradient::types(OperandTypes operands) const { return TypeResult::of(operands.front()); }

OpCost StopGradient::cost(OperandTypes, OperandTypes) const { return {}; }

SplitRule StopGradient::split(OperandTypes operands, OperandTypes results) const {
  return elementwiseSplit(operands, results).with({{0}});
}

} // namespace dfc::ops
