// batchNormGradient: with r = 1 / sqrt(variance + epsilon), x = (a - mean) r and n elements a channel,
//   ofBias = sum(g), ofScale = sum(g x), ofA = scale r (g - ofBias / n - x ofScale / n).
// Its own gradient, for the cotangents u of ofA, v of ofScale and w of ofBias, follows from
//   L = scale r Q + sum v ofScale + sum w ofBias,
//   Q = sum(u g) - sum(u) ofBias / n - sum(u x) ofScale / n,
// by the operands, with x, r and scale apart: x reaches a, mean and r, and r reaches the variance.
#include "ir/graph/rules/batch_norm_rules.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"

namespace dfc::ops {

TypeResult BatchNormGradient::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::BatchNormGradient;
  if (TypeResult checked = checkBatchNorm(kind, operands, 3, axis, epsilon); !checked.ok()) {
    return checked;
  }
  if (!(operands[4] == operands[0])) {
    return refuse(kind, operands, "the cotangent has not the shape of the first operand",
                  "give the gradient of batchNormTraining's first result");
  }
  if (TypeResult checked = checkChannelElements(kind, operands, axis); !checked.ok()) {
    return checked;
  }
  return {{operands[0], operands[1], operands[1]}, {}, {}};
}

// Two sums with a difference and two products; then two products, two differences and a product.
OpCost BatchNormGradient::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 5 + 6);
}

void BatchNormGradient::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0), scale = rule.operand(1), g = rule.operand(4);
  const Tensor u = rule.cotangent(0), v = rule.cotangent(1), w = rule.cotangent(2);
  const ChannelMath math(a.shape(), axis);
  const double n = math.elements();
  const Tensor r = 1 / sqrt(rule.operand(3) + epsilon);
  const Tensor x = (a - math.across(rule.operand(2))) * math.across(r);
  const Tensor ofBias = rule.result(2), ofScale = rule.result(1);
  const Tensor sumU = math.sum(u), sumUx = math.sum(u * x);
  const Tensor q = math.sum(u * g) - (sumU * ofBias + sumUx * ofScale) / n;
  const Tensor factor = scale * r;
  rule.give(1, r * q);
  if (rule.wanted(4)) {
    const Tensor ofA = u - math.across(sumU / n) - x * math.across(sumUx / n);
    rule.give(4, math.across(factor) * ofA + x * math.across(v) + math.across(w));
  }
  const Tensor perN = factor / n;
  const Tensor ofX = g * math.across(v - perN * sumUx) - u * math.across(perN * ofScale);
  if (rule.wanted(0)) {
    rule.give(0, ofX * math.across(r));
  }
  if (rule.wanted(2)) {
    rule.give(2, -(math.sum(ofX) * r));
  }
  if (rule.wanted(3)) {
    const Tensor ofR = scale * q + math.sum(ofX * x) / r;
    rule.give(3, ofR * r * r * r * -0.5);
  }
}

} // namespace dfc::ops
