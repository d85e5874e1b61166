#include "ir/graph/ops/window/conv2d_input_gradient.h"
#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/convolution_splits.h"

namespace dfc::ops {

void Conv2dInputGradient::fields(AttributeVisitor& visitor) {
  visitor.field("shape", shape, Presence::Required);
  convolutionFields(visitor, *this);
}

TypeResult Conv2dInputGradient::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::Conv2dInputGradient;
  return convolutionTypesOf(*this, kind, operands, [&]() -> TypeResult {
    if (TypeResult known = checkImageShape(kind, operands, shape); !known.ok()) {
      return known;
    }
    TypeResult fits = checkConvolutionCotangent(kind, operands, Shape(shape), operands[0].shape,
                                                convolutionAttributes(*this));
    return fits.ok() ? TypeResult::of({operands[0].element, Shape(shape)}) : fits;
  });
}

OpCost Conv2dInputGradient::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  const Convolution conv = convolutionOf(*this, operands);
  cost.flops = conv.flops();
  cost.product = conv.product(ConvolutionPass::InputGradient);
  return cost;
}

SplitRule Conv2dInputGradient::split(OperandTypes operands, OperandTypes results) const {
  return convolutionSplit(convolutionOf(*this, operands), {ConvolutionSlots::made, 0, 1}, operands, results);
}

void Conv2dInputGradient::restrictTo(const SplitPart& part) {
  restrictConvolution(*this, part, part.factor.results[0], part.factor.operands[1]);
}

} // namespace dfc::ops
