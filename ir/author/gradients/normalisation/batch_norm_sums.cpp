// batchNormSums: with u and v the cotangents of its two rows, of a: u + 2 a v; or, of the sums of g and
// g (a - mean), of g: u + (a - mean) v, of a: g v, and of the mean the negative sum of that.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/author/gradients/normalisation/channel_math.h"

namespace dfc {

void gradientRule(const ops::BatchNormSums& op, GradientRule& rule) {
  const Tensor a = rule.operand(0);
  const ElementType element = a.type().element;
  const ChannelMath math(a.shape(), op.axis);
  const auto row = [&](int64_t index) {
    const Tensor one = slice(rule.cotangent(0), {index, 0}, {index + 1, rule.cotangent(0).shape()[1]});
    return cast(reshape(one, {rule.cotangent(0).shape()[1]}), element);
  };
  const Tensor u = row(0), v = row(1);
  if (rule.operandCount() == 1) {
    rule.give(0, math.across(u) + a * math.across(v) * 2);
    return;
  }
  const auto gated = [&](const Tensor& tensor) {
    return op.relu ? select(compare(rule.operand(3), 0, Direction::Gt), tensor, 0) : tensor;
  };
  if (op.relu) {
    rule.independentOf(3); // its sign does not change in the small
  }
  const Tensor mean = cast(rule.operand(1), element);
  const Tensor ofA = gated(rule.operand(2)) * math.across(v);
  rule.give(0, ofA);
  if (rule.wanted(1)) {
    rule.give(1, cast(-math.sum(ofA), rule.operand(1).type().element));
  }
  if (rule.wanted(2)) {
    rule.give(2, gated(math.across(u) + (a - math.across(mean)) * math.across(v)));
  }
}

} // namespace dfc
