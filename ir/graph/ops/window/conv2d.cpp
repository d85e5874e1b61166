#include "ir/graph/ops/window/conv2d.h"
#include "ir/graph/rules/convolution.h"

namespace dfc::ops {

void Conv2d::fields(AttributeVisitor& visitor) { convolutionFields(visitor, *this); }

TypeResult Conv2d::types(OperandTypes operands) const {
  return convolutionTypesOf(*this, OpKind::Conv2d, operands, [&] {
    return convolutionTypes(OpKind::Conv2d, operands, operands[0].shape, operands[1].shape,
                            convolutionAttributes(*this));
  });
}

OpCost Conv2d::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  const Convolution conv = convolutionOf(*this, operands);
  cost.flops = conv.flops();
  cost.product = conv.product(ConvolutionPass::Forward);
  return cost;
}

} // namespace dfc::ops
