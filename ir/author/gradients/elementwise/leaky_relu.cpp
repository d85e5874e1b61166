// leakyRelu: the slope of the side that a is on; at 0 that of the upper one.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::LeakyRelu&, GradientRule& rule) {
  const Tensor a = rule.operand(0), slope = rule.operand(1);
  const Tensor below = compare(a, 0, Direction::Lt);
  if (rule.wanted(0)) {
    rule.give(0, rule.cotangent() * select(below, slope, 1));
  }
  if (rule.wanted(1)) {
    rule.give(1, rule.cotangent() * select(below, a, 0));
  }
}

} // namespace dfc
