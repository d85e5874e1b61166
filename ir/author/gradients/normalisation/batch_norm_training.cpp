// batchNormTraining: the gradient of its first result is an op of its own; the mean, whose derivative is 1/n,
// and the variance, whose derivative is 2 (a - mean) / n, add theirs.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/author/gradients/normalisation/channel_math.h"

namespace dfc {
void gradientRule(const ops::BatchNormTraining& op, GradientRule& rule) {
  const Tensor a = rule.operand(0), mean = rule.result(1);
  ops::BatchNormGradient parted;
  parted.axis = op.axis;
  parted.epsilon = op.epsilon;
  parted.relu = op.relu;
  parted.addend = rule.operandCount() == 4;
  std::vector<Tensor> operands = {a, rule.operand(1), mean, rule.result(2), rule.cotangent(0)};
  if (op.relu) {
    operands.push_back(rule.result(0));
  }
  const auto parts = rule.builder().multiOp(parted, operands, std::source_location::current());
  if (parted.addend) {
    rule.give(3, parts[3]);
  }
  rule.give(1, parts[1]);
  rule.give(2, parts[2]);
  if (rule.wanted(0) && !rule.reached(1) && !rule.reached(2)) {
    rule.give(0, parts[0]);
  } else if (rule.wanted(0)) {
    const ChannelMath math(a.shape(), op.axis);
    const Tensor spread = (a - math.across(mean)) * math.across(rule.cotangent(2) * 2);
    rule.give(0, parts[0] + (spread + math.across(rule.cotangent(1))) / math.elements());
  }
}

} // namespace dfc
