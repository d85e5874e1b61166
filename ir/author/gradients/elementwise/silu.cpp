// silu: d(a s(a)) = (s(a) + a s(a) (1 - s(a))) da.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Silu&, GradientRule& rule) {
  const Tensor a = rule.operand(0), s = sigmoid(a);
  rule.give(0, rule.cotangent() * (s + a * (s * (1 - s))));
}

} // namespace dfc
