// batchNormSums(a, axis=1): f64[2, channels]: for each channel (index of `axis`) the sum of its elements and
// of their squares, carried in f64, of which mean and variance follow. Not of the author: the stage `split`
// makes it where the channels of a batch norm lie in parts on several devices. The variance of f64 channels
// that follows is exact to 2^-52 (mean / deviation)^2.
//
// batchNormSums(a, mean, cotangent): the sums of g and of g (a - mean), g the cotangent, of which the
// gradients of a batch norm follow. batchNormSums(a, mean, cotangent, result, relu=true): g counts where the
// result is positive.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct BatchNormSums : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{1, 4};
  int64_t axis = 1;
  bool relu = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("relu", relu, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
