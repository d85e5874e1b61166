// fusedConv2d: its rules are those of its two halves, asked one after the other. It has no gradient: fusion
// comes after differentiation.
#include "ir/base/assert.h"
#include "ir/graph/fused_product.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

void FusedConv2d::fields(AttributeVisitor& visitor) {
  Conv2d::fields(visitor);
  visitor.field("body", static_cast<TextCoded&>(body), Presence::Required);
}

Fused FusedConv2d::epilogue() const { return epilogueOf(body); }

TensorType FusedConv2d::convolutionType(OperandTypes operands) const {
  const TypeResult types = Conv2d::types(operands.take_front(2));
  DFC_ASSERT(types.ok(), types.error);
  return types.types.front();
}

llvm::SmallVector<TensorType, 4> FusedConv2d::epilogueOperands(OperandTypes operands) const {
  return epilogueTypes(convolutionType(operands), operands);
}

TypeResult FusedConv2d::types(OperandTypes operands) const {
  return fusedProductTypes(OpKind::FusedConv2d, "convolution", convolution().types(operands.take_front(2)),
                           body, operands);
}

OpCost FusedConv2d::cost(OperandTypes operands, OperandTypes results) const {
  const TensorType made = convolutionType(operands);
  return fusedProductCost(convolution().cost(operands.take_front(2), made), made, body, operands, results);
}

// A sum over channels does not pass through the epilogue.
SplitRule FusedConv2d::split(OperandTypes operands, OperandTypes) const {
  const TensorType made = convolutionType(operands);
  SplitRule rule;
  for (const SplitFactor& ofConvolution : Conv2d::split(operands.take_front(2), {made}).factors) {
    if (ofConvolution.kind == SplitKind::Sum) {
      continue;
    }
    SplitFactor factor = ofConvolution;
    const SplitAxis& along = factor.results[0];
    for (const TensorType& operand : operands.drop_front(2)) {
      SplitAxis read = broadcastAxis(operand, made.shape, along.axis);
      if (read.cut()) {
        const size_t axis = read.axis;
        read = along;
        read.axis = axis;
      }
      factor.operands.push_back(read);
    }
    rule.add(std::move(factor));
  }
  return rule;
}

} // namespace dfc::ops
