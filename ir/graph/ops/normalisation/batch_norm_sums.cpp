#include "ir/graph/ops/normalisation/batch_norm_sums.h"
#include "ir/graph/rules/batch_norm_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult BatchNormSums::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::BatchNormSums;
  if (operands.size() != (relu ? 4U : 1U) && (relu || operands.size() != 3)) {
    return refuse(kind, operands, "these operands belong to no sums",
                  "give the tensor; or it, the means and a cotangent, and with relu=true the norm's result");
  }
  const size_t vectors = operands.size() == 1 ? 0 : 1;
  if (TypeResult checked = checkBatchNorm(kind, operands, vectors, axis, 0); !checked.ok()) {
    return checked;
  }
  for (size_t i = 2; i < operands.size(); ++i) {
    if (!(operands[i] == operands[0])) {
      return refuse(kind, operands, fmt::format("operand {} has not the type of the first operand", i),
                    "give a tensor of that type");
    }
  }
  if (TypeResult checked = checkChannelElements(kind, operands, axis); !checked.ok()) {
    return checked;
  }
  const Shape& shape = operands[0].shape;
  return TypeResult::of({ElementType::F64, Shape{2, shape[*normalAxis(axis, shape.rank())]}});
}

OpCost BatchNormSums::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  const double terms = operands.size() == 1 ? 3 : operands.size() == 3 ? 4 : 5;
  cost.flops = terms * static_cast<double>(operands[0].shape.elements());
  return cost;
}

SplitRule BatchNormSums::split(OperandTypes operands, OperandTypes results) const {
  const Shape& shape = operands[0].shape;
  const size_t channels = *normalAxis(axis, shape.rank());
  SplitRule rule;
  for (size_t at = 0; at < shape.rank(); ++at) {
    SplitFactor factor(at == channels ? SplitKind::Free : SplitKind::Sum, shape[at], operands.size(), 1);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (i != 1) {
        factor.operands[i] = alongAxis(operands[i], at);
      } else if (at == channels) {
        factor.operands[i] = alongAxis(operands[i], 0);
      }
    }
    if (at == channels) {
      factor.results[0] = alongAxis(results[0], 1);
    }
    rule.add(std::move(factor));
  }
  return operands.size() == 1 ? rule : std::move(rule).with({{2}});
}

} // namespace dfc::ops
