// What exports of ops over windows share. Channels stand on axis 1 in ONNX.
#pragma once

#include "ir/author/dsl.h"
#include "ir/author/onnx/export/export_call.h"

namespace dfc::onnx {

/// What an attribute of two axes says; `otherwise` for each where it says nothing.
inline Dims orOf(const Dims& given, int64_t otherwise) { return given.empty() ? Dims(2, otherwise) : given; }

/// An op in NHWC layout as the op in NCHW layout between two transposes.
template <class Op>
Names withChannelsFirst(ExportCall& call) {
  const Dims channelsFirst{0, 3, 1, 2}, channelsLast{0, 2, 3, 1};
  return call.formula([&](const std::vector<Tensor>& in) {
    Op op = call.as<Op>();
    op.layout = ImageLayout::Nchw;
    std::vector<Tensor> operands;
    for (const Tensor& tensor : in) {
      operands.push_back(transpose(tensor, channelsFirst));
    }
    if constexpr (requires { op.shape; }) {
      op.shape = {op.shape[0], op.shape[3], op.shape[1], op.shape[2]};
    }
    Builder& builder = *in[0].builder();
    return std::vector<Tensor>{
        transpose(builder.op(op, operands, std::source_location::current()), channelsLast)};
  });
}

} // namespace dfc::onnx
