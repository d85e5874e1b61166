// fusedConv2d: its rules are those of its two halves, asked one after the other. It has no gradient: fusion
// comes after differentiation.
#include "ir/base/assert.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {
namespace {

llvm::SmallVector<TensorType, 4> behind(const TensorType& convolved, OperandTypes operands) {
  llvm::SmallVector<TensorType, 4> types{convolved};
  types.append(operands.begin() + 2, operands.end());
  return types;
}

} // namespace

void FusedConv2d::fields(AttributeVisitor& visitor) {
  Conv2d::fields(visitor);
  visitor.field("body", static_cast<TextCoded&>(body), Presence::Required);
}

Fused FusedConv2d::epilogue() const {
  Fused fused;
  fused.body = body;
  return fused;
}

TensorType FusedConv2d::convolutionType(OperandTypes operands) const {
  const TypeResult types = Conv2d::types(operands.take_front(2));
  DFC_ASSERT(types.ok(), types.error);
  return types.types.front();
}

llvm::SmallVector<TensorType, 4> FusedConv2d::epilogueOperands(OperandTypes operands) const {
  return behind(convolutionType(operands), operands);
}

TypeResult FusedConv2d::types(OperandTypes operands) const {
  TypeResult convolved = Conv2d::types(operands.take_front(2));
  if (!convolved.ok()) {
    return convolved;
  }
  const TensorType made = convolved.types.front();
  TypeResult result = epilogue().types(behind(made, operands));
  if (result.ok() && !(result.types.front().shape == made.shape)) {
    return refuse(OpKind::FusedConv2d, operands,
                  fmt::format("the convolution has shape {}, but its epilogue gives {}", toString(made.shape),
                              toString(result.types.front().shape)),
                  "an operand behind the first two broadcasts to the convolution's shape; leave larger ones "
                  "unfused");
  }
  return result;
}

OpCost FusedConv2d::cost(OperandTypes operands, OperandTypes results) const {
  const TensorType made = convolutionType(operands);
  OpCost cost = streamingCost(operands, results, 0);
  const OpCost ofConvolution = Conv2d::cost(operands.take_front(2), made);
  cost.product = ofConvolution.product;
  cost.flops = ofConvolution.flops + epilogue().cost(behind(made, operands), results).flops;
  return cost;
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
