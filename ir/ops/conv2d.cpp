// conv2d: linear in both operands, so each gradient is an op of its own and the three close the family: the
// gradients of the gradient ops are these three again.
#include "ir/graph/rules/convolution.h"
#include "ir/author/gradients.h"

namespace dfc::ops {

TypeResult Conv2d::types(OperandTypes operands) const {
  if (TypeResult elements = checkElements(OpKind::Conv2d, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  return convolutionTypes(OpKind::Conv2d, operands, operands[0].shape, operands[1].shape,
                          convolutionAttributes(*this));
}

OpCost Conv2d::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops = convolutionOf(*this, operands).flops();
  return cost;
}

void Conv2d::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0), filter = rule.operand(1), cotangent = rule.cotangent();
  const auto where = std::source_location::current();
  if (rule.wanted(0)) {
    auto toInput = sameConvolution<Conv2dInputGradient>(*this);
    toInput.shape.assign(a.shape().dims().begin(), a.shape().dims().end());
    rule.give(0, rule.builder().op(std::move(toInput), {filter, cotangent}, where));
  }
  if (rule.wanted(1)) {
    auto toFilter = sameConvolution<Conv2dFilterGradient>(*this);
    toFilter.shape.assign(filter.shape().dims().begin(), filter.shape().dims().end());
    rule.give(1, rule.builder().op(std::move(toFilter), {a, cotangent}, where));
  }
}

} // namespace dfc::ops
