#include "ir/graph/ops/normalisation/softmax_cross_entropy.h"
#include "ir/graph/rules/cross_entropy_rules.h"

namespace dfc::ops {

TypeResult SoftmaxCrossEntropy::types(OperandTypes operands) const {
  if (TypeResult form = crossEntropyRows(OpKind::SoftmaxCrossEntropy, operands, rows); !form.ok()) {
    return form;
  }
  const ElementType logits = operands[0].element;
  switch (loss) {
  case LossType::Unstated: return TypeResult::of({logits, {}});
  case LossType::F32:
    return logits != ElementType::F64
               ? TypeResult::of({ElementType::F32, {}})
               : refuse(OpKind::SoftmaxCrossEntropy, operands, "the loss of f64 logits is f64",
                        "leave loss=f32 out, or cast the logits to f32");
  }
  return refuse(OpKind::SoftmaxCrossEntropy, operands, "unknown type of the loss", "it is f32, or left out");
}

OpCost SoftmaxCrossEntropy::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops = crossEntropyFlops * static_cast<double>(operands[0].shape.elements());
  return cost;
}

// Classes are not cut: maximum and sum are of the whole row.
SplitRule SoftmaxCrossEntropy::split(OperandTypes operands, OperandTypes) const {
  SplitFactor factor(SplitKind::Sum, operands[1].shape[0], 2, 1);
  factor.operands = {alongAxis(operands[0], 0), alongAxis(operands[1], 0)};
  SplitRule rule;
  rule.add(std::move(factor));
  return rule;
}

void SoftmaxCrossEntropy::restrictTo(const SplitPart& part) { rows = rowsOfWhole(rows, part.operands); }

} // namespace dfc::ops
