// maxPool(a, window=[h, w], strides=[1, 1], low=[0, 0], high=[0, 0], dilations=[1, 1]): the largest element
// of each window over the last two axes of a [N, C, H, W]; padding never wins, a window of padding only is
// refused; NaN wins (ONNX MaxPool). Element type: a number. layout=nhwc: images [N, H, W, C].
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct MaxPool : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{1, 1};
  Dims window;
  Dims strides;
  Dims low;
  Dims high;
  Dims dilations;
  ImageLayout layout = ImageLayout::Nchw;
  void fields(AttributeVisitor& visitor);

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
