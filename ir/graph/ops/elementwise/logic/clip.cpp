#include "ir/graph/ops/elementwise/logic/clip.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Clip::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Clip, operands, Domain::Number);
}

OpCost Clip::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 2);
}

} // namespace dfc::ops
