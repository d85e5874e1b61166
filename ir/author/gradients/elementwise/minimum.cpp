// min: the gradient goes to the smaller operand, and where both are equal to the first.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Minimum&, GradientRule& rule) {
  const Tensor first = compare(rule.operand(0), rule.operand(1), Direction::Le);
  if (rule.wanted(0)) {
    rule.give(0, select(first, rule.cotangent(), 0));
  }
  if (rule.wanted(1)) {
    rule.give(1, select(first, 0, rule.cotangent()));
  }
}

} // namespace dfc
