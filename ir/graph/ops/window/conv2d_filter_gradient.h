// conv2dFilterGradient(a, cotangent, shape, …): the gradient of conv2d to its filter, of dimensions `shape`;
// the other attributes are those of the conv2d.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Conv2dFilterGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};
  static constexpr bool makesFilter = true;
  Dims shape;
  Dims strides;
  Dims low;
  Dims high;
  Dims dilations;
  int64_t groups = 1;
  Precision precision = Precision::Unstated;
  ImageLayout layout = ImageLayout::Nchw;
  void fields(AttributeVisitor& visitor);

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
