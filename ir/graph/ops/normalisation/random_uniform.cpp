#include "ir/graph/ops/normalisation/random_uniform.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult RandomUniform::types(OperandTypes operands) const {
  if (!(operands[0] == TensorType{ElementType::I64, {}})) {
    return refuse(OpKind::RandomUniform, operands, "the step is no i64 scalar",
                  "give a scalar that counts steps: a parameter i64[] that is assigned itself + 1");
  }
  if (type.element != ElementType::F32 && type.element != ElementType::F64) {
    return refuse(OpKind::RandomUniform, operands, fmt::format("numbers of {}", toString(type)),
                  "draw f32 or f64, and cast them");
  }
  if (TypeResult place = part.check("randomUniform", type.shape); !place.ok()) {
    return place;
  }
  return TypeResult::of(type);
}

// Ten rounds of four multiplications and additions make four elements.
OpCost RandomUniform::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 12);
}

SplitRule RandomUniform::split(OperandTypes, OperandTypes results) const {
  SplitRule rule = sourceSplit(results[0]);
  for (SplitFactor& factor : rule.factors) {
    factor.operands.push_back({}); // every part reads the step
  }
  return rule;
}

void RandomUniform::restrictTo(const SplitPart& given) {
  const SplitAxis& at = given.factor.results[0];
  part.restrictTo(at.axis, at.elements(given.range), given.results[0].shape);
  type = given.resultType(0);
}

} // namespace dfc::ops
