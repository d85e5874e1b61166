#include "ir/graph/ops/window/conv2d.h"
#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/precision.h"

namespace dfc::ops {

void Conv2d::fields(AttributeVisitor& visitor) {
  visitor.field("strides", strides, Presence::Optional);
  visitor.field("low", low, Presence::Optional);
  visitor.field("high", high, Presence::Optional);
  visitor.field("dilations", dilations, Presence::Optional);
  visitor.field("groups", groups, Presence::Optional);
  precisionField(visitor, precision);
  layoutField(visitor, layout);
}

TypeResult Conv2d::types(OperandTypes operands) const {
  if (!isKnown(precision)) {
    return refusePrecision(OpKind::Conv2d, operands);
  }
  if (layout != ImageLayout::Nchw) {
    return typesInLayout(*this, operands);
  }
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

} // namespace dfc::ops
