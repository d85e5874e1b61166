// rmsNorm: its gradients are one op.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {

void gradientRule(const ops::RmsNorm& op, GradientRule& rule) {
  ops::RmsNormGradient gradient;
  gradient.axis = op.axis;
  gradient.epsilon = op.epsilon;
  gradient.toScale = rule.wanted(1);
  const std::vector<Tensor> parts = rule.builder().multiOp(
      gradient, {rule.operand(0), rule.operand(1), rule.cotangent()}, std::source_location::current());
  rule.give(0, parts[0]);
  if (gradient.toScale) {
    rule.give(1, parts[1]);
  }
}

// Of a second derivative no kernel is asked.
void gradientRule(const ops::RmsNormGradient& op, GradientRule& rule) { decomposedGradient(op, rule); }

} // namespace dfc
