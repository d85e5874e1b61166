// relu: the gradient passes where the result is positive. From the result, which the next layer keeps anyway,
// so that the operand's memory is free after the forward step.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Relu&, GradientRule& rule) {
  const Tensor positive = compare(rule.result(), 0, Direction::Gt);
  rule.give(0, select(positive, rule.cotangent(), 0));
}

} // namespace dfc
