// gelu: with Phi the normal distribution function and phi its density, d(a Phi(a)) = (Phi(a) + a phi(a)) da;
// the tanh form by the chain rule, from a within bounds: beyond them its tanh is 1 or -1 in every type, where
// the square of a large a would be infinite and infinity times 0 no slope.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

#include <cmath>
#include <numbers>

namespace dfc::ops {
namespace {

Tensor slopeExact(Tensor a) {
  const Tensor below = 0.5 * (1 + erf(a * std::numbers::sqrt2 / 2));
  const Tensor density = exp(-0.5 * (a * a)) / std::sqrt(2 * std::numbers::pi);
  return below + a * density;
}

Tensor slopeTanh(Tensor whole) {
  const double scale = std::sqrt(2 / std::numbers::pi), cubic = 0.044715, flat = 12;
  const Tensor a = clip(whole, -flat, flat), square = a * a;
  const Tensor bent = tanh(scale * (a + cubic * (square * a)));
  const Tensor inner = scale * (1 + 3 * cubic * square);
  return 0.5 * (1 + bent) + 0.5 * (a * (1 - bent * bent) * inner);
}

} // namespace

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

void Gelu::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0);
  rule.give(0, rule.cotangent() * (approximate == Approximation::None ? slopeExact(a) : slopeTanh(a)));
}

} // namespace dfc::ops
