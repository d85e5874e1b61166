// conv2dInputGradient: with x = I(f, g), the adjoint of conv2d in its first operand, and u the cotangent of
// x: <u, I(f, g)> = <conv2d(u, f), g>, so g gets conv2d(u, f), and f the filter gradient of that conv2d.
#include "ir/graph/rules/convolution.h"
#include "ir/author/gradients.h"

namespace dfc::ops {

TypeResult Conv2dInputGradient::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::Conv2dInputGradient;
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  if (TypeResult known = checkImageShape(kind, operands, shape); !known.ok()) {
    return known;
  }
  TypeResult fits = checkConvolutionCotangent(kind, operands, Shape(shape), operands[0].shape,
                                              convolutionAttributes(*this));
  return fits.ok() ? TypeResult::of({operands[0].element, Shape(shape)}) : fits;
}

OpCost Conv2dInputGradient::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops = convolutionOf(*this, operands).flops();
  return cost;
}

void Conv2dInputGradient::gradient(GradientRule& rule) const {
  const Tensor filter = rule.operand(0), cotangent = rule.operand(1), upper = rule.cotangent();
  const auto where = std::source_location::current();
  if (rule.wanted(0)) {
    auto toFilter = sameConvolution<Conv2dFilterGradient>(*this);
    toFilter.shape.assign(filter.shape().dims().begin(), filter.shape().dims().end());
    rule.give(0, rule.builder().op(std::move(toFilter), {upper, cotangent}, where));
  }
  if (rule.wanted(1)) {
    rule.give(1, rule.builder().op(sameConvolution<Conv2d>(*this), {upper, filter}, where));
  }
}

} // namespace dfc::ops
