// randomUniform(step, type=f32[…], seed=0): numbers between 0 and 1, both exclusive, each as likely as any
// other. They depend on the seed, the element's index and `step` (an i64 scalar: count it up to draw anew)
// alone: word i mod 4 of the Philox4x32-10 block (Salmon et al. 2011) with the counter (i / 4, step) and the
// key `seed`, so that the bits are the same on every device, whatever their number. Element type: f32 or f64.
// starts and whole: the result is a part of a tensor of shape `whole`, from index `starts` on.
#pragma once

#include "ir/graph/op_parts.h"
#include "ir/graph/rules/place_in_whole.h"

namespace dfc::ops {

struct RandomUniform : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  TensorType type;
  int64_t seed = 0;
  TensorPart part;
  void fields(AttributeVisitor& visitor) {
    visitor.field("type", type, Presence::Required);
    visitor.field("seed", seed, Presence::Optional);
    part.fields(visitor);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& given);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
