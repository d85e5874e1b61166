// conv2d: linear in both operands, so each gradient is an op of its own and the three close the family: the
// gradients of the gradient ops are these three again.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/convolution.h"

namespace dfc {
void gradientRule(const ops::Conv2d& op, GradientRule& rule) {
  const Tensor a = rule.operand(0), filter = rule.operand(1), cotangent = rule.cotangent();
  const auto where = std::source_location::current();
  if (rule.wanted(0)) {
    auto toInput = sameConvolution<ops::Conv2dInputGradient>(op);
    toInput.shape.assign(a.shape().dims().begin(), a.shape().dims().end());
    rule.give(0, rule.builder().op(std::move(toInput), {filter, cotangent}, where));
  }
  if (rule.wanted(1)) {
    auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(op);
    toFilter.shape.assign(filter.shape().dims().begin(), filter.shape().dims().end());
    rule.give(1, rule.builder().op(std::move(toFilter), {a, cotangent}, where));
  }
}

} // namespace dfc
