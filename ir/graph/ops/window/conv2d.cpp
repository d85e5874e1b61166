#include "ir/graph/ops/window/conv2d.h"
#include "ir/graph/rules/convolution.h"

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

} // namespace dfc::ops
