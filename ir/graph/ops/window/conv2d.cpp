#include "ir/graph/ops/window/conv2d.h"
#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/convolution_splits.h"

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

SplitRule Conv2d::split(OperandTypes operands, OperandTypes results) const {
  return convolutionSplit(convolutionOf(*this, operands), {0, 1, ConvolutionSlots::made}, operands, results);
}

void Conv2d::restrictTo(const SplitPart& part) {
  restrictConvolution(*this, part, part.factor.operands[0], part.factor.results[0]);
}

} // namespace dfc::ops
