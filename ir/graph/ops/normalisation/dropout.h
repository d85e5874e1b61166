// dropout(a, step, rate=0.5, seed=0): each element is 0 with probability `rate`, else a / (1 - rate)
// (Srivastava et al. 2014). Which ones depends on the seed, the element's index and `step` (an i64 scalar:
// count it up to draw anew) alone, by Philox4x32-10 (Salmon et al. 2011), so that the bits are the same on
// every device. 0 <= rate < 1. Element type: a float. starts and whole: a is a part of a tensor of shape
// `whole`, from index `starts` on, and drops what the whole would.
#pragma once

#include "ir/graph/op_parts.h"
#include "ir/graph/rules/place_in_whole.h"

namespace dfc::ops {

struct Dropout : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};
  double rate = 0.5;
  int64_t seed = 0;
  TensorPart part;
  void fields(AttributeVisitor& visitor) {
    visitor.field("rate", rate, Presence::Optional);
    visitor.field("seed", seed, Presence::Optional);
    part.fields(visitor);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& given);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
