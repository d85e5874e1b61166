// transfer: the bytes are read once and written once; what the links take for it is the cost model's
// business.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Transfer::types(OperandTypes operands) const { return TypeResult::of(operands.front()); }

OpCost Transfer::cost(OperandTypes, OperandTypes results) const { return movementCost(results); }

} // namespace dfc::ops
