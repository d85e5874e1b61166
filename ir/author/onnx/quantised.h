// What mappings of quantised ops share.
#pragma once

#include "ir/author/onnx/node_call.h"

namespace dfc::onnx {

struct Range {
  double least = 0, most = 0;
};
/// The numbers of a quantised element type; refuses others.
Range rangeOf(NodeCall& call, int64_t element);

/// `real` rounded to the nearest whole number, halves to the even one, and saturated.
Tensor quantised(NodeCall& call, Tensor real, int64_t element);

} // namespace dfc::onnx
