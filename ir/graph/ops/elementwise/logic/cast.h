// cast(a, to=TYPE): ONNX Cast. Float to integer truncates towards zero and saturates, NaN gives 0; to bool: a
// != 0.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Cast : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};
  ElementType to = ElementType::F32;
  void fields(AttributeVisitor& visitor) { visitor.field("to", to, Presence::Required); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
