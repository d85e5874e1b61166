#include "ir/graph/ops/elementwise/logic/cast.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Cast::types(OperandTypes operands) const { return TypeResult::of({to, operands.front().shape}); }

OpCost Cast::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
