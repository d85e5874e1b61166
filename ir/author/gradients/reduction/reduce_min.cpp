// reduceMin: the gradient goes to the smallest element; several that are equally small share it evenly.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::ReduceMin& op, GradientRule& rule) {
  const Tensor operand = rule.operand(0);
  const Tensor smallest = withAxesKept(rule.result(), operand.shape(), op.axes);
  const Tensor isSmallest = compare(operand, smallest, Direction::Eq);
  const Tensor count = reduceSum(cast(isSmallest, operand.type().element), op.axes, true);
  const Tensor share = withAxesKept(rule.cotangent(), operand.shape(), op.axes) / count;
  rule.give(0, select(isSmallest, share, 0));
}

} // namespace dfc
