#include "ir/graph/ops/normalisation/batch_norm_training.h"
#include "ir/graph/rules/batch_norm_rules.h"

namespace dfc::ops {

TypeResult BatchNormTraining::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::BatchNormTraining;
  if (TypeResult checked = checkBatchNorm(kind, operands, 2, axis, epsilon); !checked.ok()) {
    return checked;
  }
  if (operands.size() == 4 && !(operands[3] == operands[0])) {
    return refuse(kind, operands, "the addend has not the type of the first operand", "cast or broadcast it");
  }
  if (TypeResult checked = checkChannelElements(kind, operands, axis); !checked.ok()) {
    return checked;
  }
  return {{operands[0], operands[1], operands[1]}, {}, {}};
}

// A sum; a difference, a product and a sum; and what batchNorm does. The statistics are known before the
// first result, so that the first operand is read twice.
OpCost BatchNormTraining::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 1 + 3 + 3);
  cost.bytes += static_cast<double>(operands[0].bytes());
  return cost;
}

SplitRule BatchNormTraining::split(OperandTypes operands, OperandTypes results) const {
  return batchNormSplit(operands, results, axis, true);
}

} // namespace dfc::ops
