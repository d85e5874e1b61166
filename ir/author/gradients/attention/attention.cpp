// attention: its gradient is a composite op, which reads logSumExp and needs no stored weights; and that op's
// own.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

#include <array>

namespace dfc {

namespace {

// Of one tensor that is given as q, k and v, the gradient as it is; of several, the heads that each is read
// for.
void givePacked(const ops::Attention& op, const Tensor& gradient, GradientRule& rule) {
  if (rule.operand(0).value() == rule.operand(1).value() &&
      rule.operand(0).value() == rule.operand(2).value()) {
    rule.give(0, gradient);
    rule.independentOf(1);
    rule.independentOf(2);
    return;
  }
  const size_t axis = gradient.shape().rank() - 2;
  const int64_t heads = gradient.shape()[axis];
  const std::array<int64_t, 4> borders = {0, heads - 2 * op.keyHeads, heads - op.keyHeads, heads};
  for (size_t i = 0; i < 3; ++i) {
    Dims begin(gradient.shape().rank(), 0),
        end(gradient.shape().dims().begin(), gradient.shape().dims().end()), after = begin;
    begin[axis] = borders[i];
    end[axis] = borders[i + 1];
    after[axis] = heads - borders[i + 1];
    rule.give(i, pad(slice(gradient, begin, end), begin, after));
  }
}

} // namespace

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
  if (op.layout == AttentionLayout::Packed) {
    givePacked(op, gradients[0], rule);
    return;
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    rule.give(i, gradients[i]);
  }
}

// Of a second derivative no kernel is asked.
void gradientRule(const ops::AttentionGradient& op, GradientRule& rule) { decomposedGradient(op, rule); }

} // namespace dfc
