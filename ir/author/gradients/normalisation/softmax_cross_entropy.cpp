// softmaxCrossEntropy: the gradient for the logits is an op of its own; labels have none.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/cross_entropy_rules.h"

namespace dfc {
void gradientRule(const ops::SoftmaxCrossEntropy& op, GradientRule& rule) {
  ops::SoftmaxCrossEntropyGradient back;
  back.rows = op.rows;
  rule.give(0, rule.builder().op(back, {rule.operand(0), rule.operand(1), rule.cotangent()},
                                 std::source_location::current()));
}

} // namespace dfc
