// batchNormGradient: with r = 1 / sqrt(variance + epsilon), x = (a - mean) r and n elements a channel,
//   ofBias = sum(g), ofScale = sum(g x), ofA = scale r (g - ofBias / n - x ofScale / n).
// Its own gradient, for the cotangents u of ofA, v of ofScale and w of ofBias, follows from
//   L = scale r Q + sum v ofScale + sum w ofBias,
//   Q = sum(u g) - sum(u) ofBias / n - sum(u x) ofScale / n,
// by the operands, with x, r and scale apart: x reaches a, mean and r, and r reaches the variance.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/author/gradients/normalisation/channel_math.h"

namespace dfc {
namespace {

// The elements that reach the operand of the relu; the others are 0.
Tensor gated(const ops::BatchNormGradient& op, const GradientRule& rule, Tensor tensor) {
  return op.relu ? select(compare(rule.operand(5), 0, Direction::Gt), tensor, 0) : tensor;
}

} // namespace

void gradientRule(const ops::BatchNormGradient& op, GradientRule& rule) {
  const Tensor a = rule.operand(0), scale = rule.operand(1);
  const Tensor g = gated(op, rule, rule.operand(4));
  const Tensor u = rule.cotangent(0), v = rule.cotangent(1), w = rule.cotangent(2);
  if (op.relu) {
    rule.independentOf(5); // its sign does not change in the small
  }
  const ChannelMath math(a.shape(), op.axis);
  const double n = math.elements();
  const Tensor r = 1 / sqrt(rule.operand(3) + op.epsilon);
  const Tensor x = (a - math.across(rule.operand(2))) * math.across(r);
  const Tensor ofBias = rule.result(2), ofScale = rule.result(1);
  const Tensor sumU = math.sum(u), sumUx = math.sum(u * x);
  const Tensor q = math.sum(u * g) - (sumU * ofBias + sumUx * ofScale) / n;
  const Tensor factor = scale * r;
  rule.give(1, r * q);
  if (rule.wanted(4)) {
    const Tensor ofA = u - math.across(sumU / n) - x * math.across(sumUx / n);
    const Tensor all = math.across(factor) * ofA + x * math.across(v) + math.across(w);
    rule.give(4, gated(op, rule, op.addend ? all + rule.cotangent(3) : all));
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

} // namespace dfc
