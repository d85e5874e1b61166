// conv2d(a, filter, strides=[1, 1], low=[0, 0], high=[0, 0], dilations=[1, 1], groups=1): cross-correlation
// of a [N, C, H, W] with filter [M, C / groups, KH, KW]; result [N, M, H', W']. `low` and `high`: zeros
// before and after each of the two axes (ONNX Conv without its bias, PyTorch conv2d). Element type: a float;
// f16 and bf16 accumulate in f32.
//
// precision: as of matmul. layout=nhwc: all three tensors have their channels last, a [N, H, W, C], filter
// [M, KH, KW, C / groups] and the result [N, H', W', M]; layout=nhwc_oihw: the filter alone keeps its order.
// The pass choose_layout makes such ops.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Conv2d : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};
  static constexpr size_t filterOperand = 1;
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
