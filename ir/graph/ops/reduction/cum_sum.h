// cumSum(a, axis=0, exclusive=false, reverse=false): running sums along `axis`; exclusive: without the
// element itself; reverse: from the end. Floats add in f64 and round once an element, integers wrap. Element
// type: a number (ONNX CumSum).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct CumSum : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("exclusive", exclusive, Presence::Optional);
    visitor.field("reverse", reverse, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
