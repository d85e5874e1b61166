// gradients: the rule checks the request; its cost is that of the ops which the pass `gradients` puts in its
// place.
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult Gradients::types(OperandTypes operands) const {
  const TensorType& loss = operands.front();
  if (!isFloat(loss.element) || loss.shape.rank() != 0) {
    return TypeResult::fail(
        fmt::format("gradients of {}: the loss is no scalar of a float type", toString(loss)),
        "reduce it to one number with reduceMean or reduceSum");
  }
  TypeResult result;
  for (const TensorType& type : operands.drop_front()) {
    if (!isFloat(type.element)) {
      return TypeResult::fail(
          fmt::format("gradients for {}: only float tensors have gradients", toString(type)),
          "leave it out of the request");
    }
    result.types.push_back(type);
  }
  return result;
}

OpCost Gradients::cost(OperandTypes, OperandTypes) const { return {}; }

// The pass that expands it comes before any cut.
SplitRule Gradients::split(OperandTypes, OperandTypes) const { return {}; }

} // namespace dfc::ops
