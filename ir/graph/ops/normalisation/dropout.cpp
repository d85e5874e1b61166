#include "ir/graph/ops/normalisation/dropout.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult Dropout::types(OperandTypes operands) const {
  if (TypeResult elements = checkElements(OpKind::Dropout, operands.take_front(1), Domain::Float);
      !elements.ok()) {
    return elements;
  }
  if (!(operands[1] == TensorType{ElementType::I64, {}})) {
    return refuse(OpKind::Dropout, operands, "the step is no i64 scalar",
                  "give a scalar that counts steps: a parameter i64[] that is assigned itself + 1");
  }
  if (!(rate >= 0 && rate < 1)) {
    return refuse(OpKind::Dropout, operands, fmt::format("a rate of {}", rate),
                  "0 <= rate < 1: the part of elements that is dropped");
  }
  return TypeResult::of(operands.front());
}

// Ten rounds of four multiplications and additions make four elements; then a comparison and a product.
OpCost Dropout::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 12);
}

} // namespace dfc::ops
