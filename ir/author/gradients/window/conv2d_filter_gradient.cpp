// conv2dFilterGradient: with w = F(a, g), the adjoint of conv2d in its filter, and u the cotangent of w:
// <u, F(a, g)> = <conv2d(a, u), g>, so g gets conv2d(a, u), and a the input gradient of that conv2d.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/convolution.h"

namespace dfc {
void gradientRule(const ops::Conv2dFilterGradient& op, GradientRule& rule) {
  const Tensor a = rule.operand(0), cotangent = rule.operand(1), upper = rule.cotangent();
  const auto where = std::source_location::current();
  if (rule.wanted(0)) {
    auto toInput = sameConvolution<ops::Conv2dInputGradient>(op);
    toInput.shape.assign(a.shape().dims().begin(), a.shape().dims().end());
    rule.give(0, rule.builder().op(std::move(toInput), {upper, cotangent}, where));
  }
  if (rule.wanted(1)) {
    rule.give(1, rule.builder().op(sameConvolution<ops::Conv2d>(op), {a, upper}, where));
  }
}

} // namespace dfc
