#include "ir/graph/ops/window/conv2d_filter_gradient.h"
#include "ir/graph/rules/convolution.h"

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

} // namespace dfc::ops
