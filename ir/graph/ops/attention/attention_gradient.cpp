#include "ir/graph/ops/attention/attention_gradient.h"

#include "ir/graph/rules/attention_shape.h"
#include "ir/graph/rules/attention_splits.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult AttentionGradient::types(OperandTypes operands) const {
  llvm::SmallVector<TensorType, 4> forwards(operands.begin(), operands.begin() + 3);
  if (operands.size() == 7) {
    forwards.push_back(operands.back());
  }
  const TypeResult made = forward.types(forwards);
  if (!made.ok()) {
    return made;
  }
  const TensorType &result = made.types[0], &rows = made.types[1];
  if (!(operands[3] == result) || !(operands[4] == rows) || !(operands[5] == rows)) {
    return refuse(
        OpKind::AttentionGradient, operands,
        fmt::format("attention of these operands gives {} and {}", toString(result), toString(rows)),
        "cotangent is of the type of attention's first result, logSumExp and delta of its second");
  }
  TypeResult results;
  results.types = {operands[0], operands[1], operands[2]};
  if (forward.layout == AttentionLayout::Packed) {
    results.types.truncate(1);
  }
  return results;
}

// The scores again, and four products more, for each pair of a query and a key that it sees: the gradient
// of the weights, and those of q, k and v.
OpCost AttentionGradient::cost(OperandTypes operands, OperandTypes results) const {
  const AttentionShape shape = knownAttentionShape(forward, operands);
  const bool packed = forward.layout == AttentionLayout::Packed; // one tensor, read once
  OpCost cost = streamingCost(packed ? operands.drop_front(2) : operands, results, 0);
  const auto width = static_cast<double>(shape.width), valueWidth = static_cast<double>(shape.valueWidth);
  cost.flops = shape.visiblePairs(forward.causal) * (2 * (3 * width + 2 * valueWidth) + expFlops + 4);
  cost.product.inner = width;
  return cost;
}

SplitRule AttentionGradient::split(OperandTypes operands, OperandTypes results) const {
  return attentionGradientSplit(forward, operands, results);
}

} // namespace dfc::ops
