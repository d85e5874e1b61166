// gelu: with Phi the normal distribution function and phi its density, d(a Phi(a)) = (Phi(a) + a phi(a)) da;
// the tanh form by the chain rule, from a within bounds: beyond them its tanh is 1 or -1 in every type, where
// the square of a large a would be infinite and infinity times 0 no slope.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <cmath>
#include <numbers>

namespace dfc {
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

void gradientRule(const ops::Gelu& op, GradientRule& rule) {
  const Tensor a = rule.operand(0);
  rule.give(0, rule.cotangent() * (op.approximate == Approximation::None ? slopeExact(a) : slopeTanh(a)));
}

} // namespace dfc
