// erf: d erf(a) = 2/sqrt(pi) exp(-a^2) da.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <cmath>
#include <numbers>

namespace dfc {
void gradientRule(const ops::Erf&, GradientRule& rule) {
  const Tensor a = rule.operand(0);
  rule.give(0, rule.cotangent() * (2 / std::sqrt(std::numbers::pi) * exp(-(a * a))));
}

} // namespace dfc
