// select: each branch gets the gradient where the condition chose it, and 0 elsewhere.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
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

void Select::gradient(GradientRule& rule) const {
  if (rule.wanted(1)) {
    rule.give(1, dfc::select(rule.operand(0), rule.cotangent(), 0));
  }
  if (rule.wanted(2)) {
    rule.give(2, dfc::select(rule.operand(0), 0, rule.cotangent()));
  }
}

} // namespace dfc::ops
