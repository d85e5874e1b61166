// averagePoolGradient(cotangent, shape, …): the gradient of averagePool to its operand, of dimensions
// `shape`; the other attributes are those of the averagePool.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct AveragePoolGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{1, 1};
  Dims shape;
  Dims window;
  Dims strides;
  Dims low;
  Dims high;
  bool countPadding = false;
  ImageLayout layout = ImageLayout::Nchw;
  void fields(AttributeVisitor& visitor);

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
