// The split rule of conv2d and its two gradients: one convolution of three tensors, of which each op makes
// the third. With image nchw, filter moij and result nmyx: n, m, c, groups, and the windows.
#pragma once

#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/window_splits.h"

namespace dfc {

/// Operand index of each of the three tensors; `made` marks the one that the op computes.
struct ConvolutionSlots {
  static constexpr size_t made = 2;
  size_t image, filter, result;
};

SplitRule convolutionSplit(const Convolution& conv, const ConvolutionSlots& slots, OperandTypes operands,
                           OperandTypes results);

/// Groups and padding of a part; `image` and `result`: where the factor lies in those tensors.
template <class Op>
void restrictConvolution(Op& op, const SplitPart& part, const SplitAxis& image, const SplitAxis& result) {
  if (op.groups > 1 && image.cut() && result.cut() && image.axis == imageAxis(op.layout, 1) &&
      result.axis == image.axis) {
    op.groups = part.range.size();
  }
  if (result.form == SplitAxis::Form::Backward) {
    restrictElements(part, result, op.layout, op.low, op.high);
  } else {
    restrictWindows(part, image, op.layout, op.low, op.high);
  }
  if constexpr (requires { op.shape; }) {
    const Shape shape = part.resultType(0).shape;
    op.shape.assign(shape.dims().begin(), shape.dims().end());
  }
}

} // namespace dfc
