#include "ir/graph/ops/elementwise/functions/gelu.h"
#include "ir/graph/rules/op_rules.h"

#include <cmath>
#include <numbers>

namespace dfc::ops {

void Gelu::fields(AttributeVisitor& visitor) {
  auto number = static_cast<uint8_t>(approximate);
  visitor.choice("approximate", number, approximationNames, Presence::Optional);
  approximate = static_cast<Approximation>(number);
}

TypeResult Gelu::types(OperandTypes operands) const {
  if (static_cast<size_t>(approximate) >= approximationNames.size()) {
    return refuse(OpKind::Gelu, operands, "unknown approximation", "it is none or tanh");
  }
  return elementwiseTypes(OpKind::Gelu, operands, Domain::Float);
}

OpCost Gelu::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, approximate == Approximation::None ? erfFlops + 4 : tanhFlops + 8);
}

} // namespace dfc::ops
