#include "ir/graph/ops/elementwise/logic/select.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult Select::types(OperandTypes operands) const {
  if (operands[0].element != ElementType::Bool) {
    return refuse(OpKind::Select, operands,
                  fmt::format("the condition is {}, not bool", name(operands[0].element)),
                  "make the condition with compare, or cast it to bool");
  }
  if (operands[1].element != operands[2].element) {
    return refuse(OpKind::Select, operands,
                  fmt::format("{} meets {}", name(operands[1].element), name(operands[2].element)),
                  fmt::format("cast one branch to the other's element type, for example to {}",
                              name(operands[1].element)));
  }
  return broadcastTypes(OpKind::Select, operands, operands[1].element);
}

OpCost Select::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
