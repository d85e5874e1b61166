// input: costs nothing, as a fed value is read where the caller has it. What its way to a GPU takes is a
// matter of the plan (ir/plan/feeds.h).
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Input::types(OperandTypes) const {
  if (part.isPart() && of.empty()) {
    return TypeResult::fail("input: a part of an input that is not named",
                            "name the whole: part(of=\"NAME\", …)");
  }
  TypeResult place = part.check("input", type.shape);
  return place.ok() ? TypeResult::of(type) : place;
}

OpCost Input::cost(OperandTypes, OperandTypes) const { return {}; }

SplitRule Input::split(OperandTypes, OperandTypes results) const { return sourceSplit(results[0]); }

void Input::restrictTo(const SplitPart& part) { type = part.resultType(0); }

} // namespace dfc::ops
