// div: with q = a / b, d(q) = da / b - q db / b. Both terms share the quotient of the cotangent by b.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Div&, GradientRule& rule) {
  const Tensor quotient = rule.cotangent() / rule.operand(1);
  rule.give(0, quotient);
  if (rule.wanted(1)) {
    rule.give(1, -(quotient * rule.result()));
  }
}

} // namespace dfc
