// attention: its gradient is a composite op, which reads logSumExp and needs no stored weights; and that op's
// own.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

namespace dfc {

// delta, the row sums of the weights times the gradients of the weights, equals the row sums of the result
// times its cotangent, so no scores are needed. The derivative of logSumExp by the scores is the weights: its
// cotangent is subtracted from delta.
void gradientRule(const ops::Attention& op, GradientRule& rule) {
  const Tensor cotangent = rule.cotangent(0);
  const Tensor delta = reduceSum(widened(rule.result(0)) * widened(cotangent), {-1}) - rule.cotangent(1);
  std::vector<Tensor> operands = {rule.operand(0), rule.operand(1), rule.operand(2),
                                  cotangent,       rule.result(1),  delta};
  if (rule.operandCount() == 4) {
    operands.push_back(rule.operand(3));
  }
  const std::vector<Tensor> gradients =
      rule.builder().multiOp(ops::AttentionGradient{{}, op}, operands, std::source_location::current());
  for (size_t i = 0; i < gradients.size(); ++i) {
    rule.give(i, gradients[i]);
  }
}

// Of a second derivative no kernel is asked.
void gradientRule(const ops::AttentionGradient& op, GradientRule& rule) { decomposedGradient(op, rule); }

} // namespace dfc
