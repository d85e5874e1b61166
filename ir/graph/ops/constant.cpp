// constant: resident before the first step, so a step pays nothing for it.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Constant::types(OperandTypes) const { return TypeResult::of(value.type()); }

OpCost Constant::cost(OperandTypes, OperandTypes) const { return {}; }

} // namespace dfc::ops
