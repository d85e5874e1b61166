// tanh: d(tanh a) = (1 - tanh(a)^2) da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Tanh&, GradientRule& rule) {
  const Tensor result = rule.result();
  rule.give(0, rule.cotangent() * (1 - result * result));
}

} // namespace dfc
