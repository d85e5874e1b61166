// conv2dFilterGradient: with w = F(a, g), the adjoint of conv2d in its filter, and u the cotangent of w:
// <u, F(a, g)> = <conv2d(a, u), g>, so g gets conv2d(a, u), and a the input gradient of that conv2d.
#include "ir/graph/rules/convolution.h"
#include "ir/author/gradients.h"

namespace dfc::ops {

TypeResult Conv2dFilterGradient::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::Conv2dFilterGradient;
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  if (TypeResult known = checkImageShape(kind, operands, shape); !known.ok()) {
    return known;
  }
  TypeResult fits = checkConvolutionCotangent(kind, operands, operands[0].shape, Shape(shape),
                                              convolutionAttributes(*this));
  return fits.ok() ? TypeResult::of({operands[0].element, Shape(shape)}) : fits;
}

OpCost Conv2dFilterGradient::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops = convolutionOf(*this, operands).flops();
  return cost;
}

void Conv2dFilterGradient::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0), cotangent = rule.operand(1), upper = rule.cotangent();
  const auto where = std::source_location::current();
  if (rule.wanted(0)) {
    auto toInput = sameConvolution<Conv2dInputGradient>(*this);
    toInput.shape.assign(a.shape().dims().begin(), a.shape().dims().end());
    rule.give(0, rule.builder().op(std::move(toInput), {upper, cotangent}, where));
  }
  if (rule.wanted(1)) {
    rule.give(1, rule.builder().op(sameConvolution<Conv2d>(*this), {a, upper}, where));
  }
}

} // namespace dfc::ops
