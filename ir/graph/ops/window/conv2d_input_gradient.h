// conv2dInputGradient(filter, cotangent, shape, …): the gradient of conv2d to its first operand, of
// dimensions `shape`; the other attributes are those of the conv2d. Also known as transposed convolution
// (ONNX ConvTranspose).
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Conv2dInputGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};
  static constexpr size_t filterOperand = 0;
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
