// conv2dInputGradient: with x = I(f, g), the adjoint of conv2d in its first operand, and u the cotangent of
// x: <u, I(f, g)> = <conv2d(u, f), g>, so g gets conv2d(u, f), and f the filter gradient of that conv2d.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/convolution.h"

namespace dfc {
void gradientRule(const ops::Conv2dInputGradient& op, GradientRule& rule) {
  const Tensor filter = rule.operand(0), cotangent = rule.operand(1), upper = rule.cotangent();
  const auto where = std::source_location::current();
  if (rule.wanted(0)) {
    auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(op);
    toFilter.shape.assign(filter.shape().dims().begin(), filter.shape().dims().end());
    rule.give(0, rule.builder().op(std::move(toFilter), {upper, cotangent}, where));
  }
  if (rule.wanted(1)) {
    rule.give(1, rule.builder().op(sameConvolution<ops::Conv2d>(op), {upper, filter}, where));
  }
}

} // namespace dfc
