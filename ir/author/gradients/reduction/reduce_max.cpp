// reduceMax: the gradient goes to the largest element; several that are equally large share it evenly.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::ReduceMax& op, GradientRule& rule) {
  const Tensor operand = rule.operand(0);
  const Tensor largest = withAxesKept(rule.result(), operand.shape(), op.axes);
  const Tensor isLargest = compare(operand, largest, Direction::Eq);
  const Tensor count = reduceSum(cast(isLargest, operand.type().element), op.axes, true);
  const Tensor share = withAxesKept(rule.cotangent(), operand.shape(), op.axes) / count;
  rule.give(0, select(isLargest, share, 0));
}

} // namespace dfc
