// logSoftmax(a, axis=-1): a - log(sum(exp(a))) along `axis`, shifted by the maximum. Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct LogSoftmax : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{1, 1};
  int64_t axis = -1;
  void fields(AttributeVisitor& visitor) { visitor.field("axis", axis, Presence::Optional); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
