#include "ir/graph/ops/window/conv2d_filter_gradient.h"
#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/convolution_splits.h"

namespace dfc::ops {

void Conv2dFilterGradient::fields(AttributeVisitor& visitor) {
  visitor.field("shape", shape, Presence::Required);
  convolutionFields(visitor, *this);
}

TypeResult Conv2dFilterGradient::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::Conv2dFilterGradient;
  return convolutionTypesOf(*this, kind, operands, [&]() -> TypeResult {
    if (TypeResult known = checkImageShape(kind, operands, shape); !known.ok()) {
      return known;
    }
    TypeResult fits = checkConvolutionCotangent(kind, operands, operands[0].shape, Shape(shape),
                                                convolutionAttributes(*this));
    return fits.ok() ? TypeResult::of({operands[0].element, Shape(shape)}) : fits;
  });
}

OpCost Conv2dFilterGradient::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  const Convolution conv = convolutionOf(*this, operands);
  cost.flops = conv.flops();
  cost.product = conv.product(ConvolutionPass::FilterGradient);
  return cost;
}

SplitRule Conv2dFilterGradient::split(OperandTypes operands, OperandTypes results) const {
  return convolutionSplit(convolutionOf(*this, operands), {0, ConvolutionSlots::made, 1}, operands, results);
}

void Conv2dFilterGradient::restrictTo(const SplitPart& part) {
  restrictConvolution(*this, part, part.factor.operands[0], part.factor.operands[1]);
}

} // namespace dfc::ops
