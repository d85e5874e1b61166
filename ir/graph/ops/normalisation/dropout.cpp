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
  if (TypeResult place = part.check("dropout", operands[0].shape); !place.ok()) {
    return place;
  }
  return TypeResult::of(operands.front());
}

// Ten rounds of four multiplications and additions make four elements; then a comparison and a product.
OpCost Dropout::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 12);
}

SplitRule Dropout::split(OperandTypes operands, OperandTypes results) const {
  return elementwiseSplit(operands, results).with({{0}});
}

void Dropout::restrictTo(const SplitPart& given) {
  const SplitAxis& at = given.factor.results[0];
  part.restrictTo(at.axis, at.elements(given.range), given.results[0].shape);
}

} // namespace dfc::ops
