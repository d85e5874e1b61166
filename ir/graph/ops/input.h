// input: a value that the caller feeds anew at every step, on the host. of, starts and whole: of a split
// graph; it is the part from index `starts` on of what the caller feeds under the name `of`, of shape
// `whole`.
#pragma once

#include "ir/graph/op_parts.h"
#include "ir/graph/rules/place_in_whole.h"

namespace dfc::ops {

struct Input : OpDefaults {
  static constexpr OpClass opClass = OpClass::Source;
  static constexpr Arity arity{0, 0};
  TensorType type;
  TensorPart part = {};
  std::string of = {}; ///< the author's input
  void fields(AttributeVisitor& visitor) {
    visitor.field("type", type, Presence::Required);
    part.fields(visitor);
    visitor.field("of", of, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
