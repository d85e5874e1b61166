// batchNormTraining: the gradient of its first result is an op of its own; the mean, whose derivative is 1/n,
// and the variance, whose derivative is 2 (a - mean) / n, add theirs.
#include "ir/graph/rules/batch_norm_rules.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"

namespace dfc::ops {

TypeResult BatchNormTraining::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::BatchNormTraining;
  if (TypeResult checked = checkBatchNorm(kind, operands, 2, axis, epsilon); !checked.ok()) {
    return checked;
  }
  if (TypeResult checked = checkChannelElements(kind, operands, axis); !checked.ok()) {
    return checked;
  }
  return {{operands[0], operands[1], operands[1]}, {}, {}};
}

// A sum; a difference, a product and a sum; and what batchNorm does.
OpCost BatchNormTraining::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1 + 3 + 3);
}

void BatchNormTraining::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0), mean = rule.result(1);
  BatchNormGradient op;
  op.axis = axis;
  op.epsilon = epsilon;
  const auto parts = rule.builder().multiOp(op, {a, rule.operand(1), mean, rule.result(2), rule.cotangent(0)},
                                            std::source_location::current());
  rule.give(1, parts[1]);
  rule.give(2, parts[2]);
  if (rule.wanted(0)) {
    const ChannelMath math(a.shape(), axis);
    const Tensor spread = (a - math.across(mean)) * math.across(rule.cotangent(2) * 2);
    rule.give(0, parts[0] + (spread + math.across(rule.cotangent(1))) / math.elements());
  }
}

} // namespace dfc::ops
