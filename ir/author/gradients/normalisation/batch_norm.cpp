// batchNorm: with r = 1 / sqrt(variance + epsilon) and d = a - mean, y = d r scale + bias. The variance gets
// what r gets, times dr / dvariance = -r^3 / 2.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/author/gradients/normalisation/channel_math.h"

namespace dfc {
void gradientRule(const ops::BatchNorm& op, GradientRule& rule) {
  const Tensor a = rule.operand(0), scale = rule.operand(1), cotangent = rule.cotangent();
  const ChannelMath math(a.shape(), op.axis);
  const Tensor root = 1 / sqrt(rule.operand(4) + op.epsilon);
  if (rule.wanted(0)) {
    rule.give(0, cotangent * math.across(root * scale));
  }
  if (rule.wanted(2) || rule.wanted(3)) {
    const Tensor sum = math.sum(cotangent);
    rule.give(2, sum);
    if (rule.wanted(3)) {
      rule.give(3, -(sum * root * scale));
    }
  }
  if (rule.wanted(1) || rule.wanted(4)) {
    const Tensor along = math.sum(cotangent * (a - math.across(rule.operand(3))));
    if (rule.wanted(1)) {
      rule.give(1, along * root);
    }
    if (rule.wanted(4)) {
      rule.give(4, along * scale * root * root * root * -0.5);
    }
  }
}

} // namespace dfc
