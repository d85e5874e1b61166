#include "ir/graph/ops/window/conv2d_input_gradient.h"
#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/precision.h"

namespace dfc::ops {

void Conv2dInputGradient::fields(AttributeVisitor& visitor) {
  visitor.field("shape", shape, Presence::Required);
  visitor.field("strides", strides, Presence::Optional);
  visitor.field("low", low, Presence::Optional);
  visitor.field("high", high, Presence::Optional);
  visitor.field("dilations", dilations, Presence::Optional);
  visitor.field("groups", groups, Presence::Optional);
  precisionField(visitor, precision);
  layoutField(visitor, layout);
}

TypeResult Conv2dInputGradient::types(OperandTypes operands) const {
  if (!isKnown(precision)) {
    return refusePrecision(OpKind::Conv2dInputGradient, operands);
  }
  if (layout != ImageLayout::Nchw) {
    return typesInLayout(*this, operands);
  }
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

} // namespace dfc::ops
