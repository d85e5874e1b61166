// clip: the gradient goes to the operand that the result is; of equal ones to a, then to low.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Clip&, GradientRule& rule) {
  const Tensor a = rule.operand(0), low = rule.operand(1), high = rule.operand(2);
  const Tensor raised = max(a, low), above = compare(raised, high, Direction::Gt);
  const Tensor below = compare(a, low, Direction::Lt), cotangent = rule.cotangent();
  if (rule.wanted(0)) {
    rule.give(0, select(above, 0, select(below, 0, cotangent)));
  }
  if (rule.wanted(1)) {
    rule.give(1, select(above, 0, select(below, cotangent, 0)));
  }
  if (rule.wanted(2)) {
    rule.give(2, select(above, cotangent, 0));
  }
}

} // namespace dfc
