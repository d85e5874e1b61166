// rsqrt: d(a^-1/2) = -1/2 a^-1/2 / a da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Rsqrt&, GradientRule& rule) {
  const Tensor result = rule.result();
  rule.give(0, rule.cotangent() * (-0.5 * (result / rule.operand(0))));
}

} // namespace dfc
