// topK: the gradient of each value goes to the element that it was; the indices carry none. A mask chooses,
// so that an infinite gradient does not become NaN elsewhere.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/axis_view.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::TopK& op, GradientRule& rule) {
  const Shape& whole = rule.operand(0).shape();
  const AxisView view(whole, op.axis);
  const Tensor chosen =
      oneHot(reshape(rule.result(1), {view.outer, op.k, view.inner}), view.length, 1, ElementType::Bool);
  const Tensor cotangent = reshape(rule.cotangent(0), {view.outer, 1, op.k, view.inner});
  const Tensor spread = reduceSum(select(chosen, cotangent, 0), {2});
  rule.give(0, reshape(spread, {whole.dims().begin(), whole.dims().end()}));
}

} // namespace dfc
