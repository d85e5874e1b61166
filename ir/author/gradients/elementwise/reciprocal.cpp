// reciprocal: d(1/a) = -(1/a)^2 da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Reciprocal&, GradientRule& rule) {
  const Tensor result = rule.result();
  rule.give(0, -(rule.cotangent() * (result * result)));
}

} // namespace dfc
