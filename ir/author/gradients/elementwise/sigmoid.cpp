// sigmoid: d(s(a)) = s(a) (1 - s(a)) da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Sigmoid&, GradientRule& rule) {
  const Tensor result = rule.result();
  rule.give(0, rule.cotangent() * (result * (1 - result)));
}

} // namespace dfc
