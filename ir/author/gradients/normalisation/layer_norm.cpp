// layerNorm: its gradients are one op; the bias's alone is a sum.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

namespace dfc {

void gradientRule(const ops::LayerNorm& op, GradientRule& rule) {
  const Tensor a = rule.operand(0), scale = rule.operand(1), cotangent = rule.cotangent();
  ops::LayerNormGradient gradient;
  gradient.axis = op.axis;
  gradient.epsilon = op.epsilon;
  gradient.toScale = rule.wanted(1);
  gradient.toBias = rule.operandCount() > 2 && rule.wanted(2);
  if (!rule.wanted(0) && !gradient.toScale) {
    rule.give(2, narrowed(summedTo(widened(cotangent), scale.shape()), a.type().element));
    return;
  }
  const std::vector<Tensor> parts =
      rule.builder().multiOp(gradient, {a, scale, cotangent}, std::source_location::current());
  rule.give(0, parts[0]);
  if (gradient.toScale) {
    rule.give(1, parts[1]);
  }
  if (gradient.toBias) {
    rule.give(2, parts.back());
  }
}

// Of a second derivative no kernel is asked.
void gradientRule(const ops::LayerNormGradient& op, GradientRule& rule) { decomposedGradient(op, rule); }

} // namespace dfc
