// What exports of ops over windows share. Channels stand on axis 1 in ONNX.
#pragma once

#include "ir/author/dsl.h"
#include "ir/author/onnx/export/export_call.h"
#include "ir/graph/rules/layout.h"

namespace dfc::onnx {

/// What an attribute of two axes says; `otherwise` for each where it says nothing.
inline Dims orOf(const Dims& given, int64_t otherwise) { return given.empty() ? Dims(2, otherwise) : given; }

/// An op with its channels last as the op in NCHW layout between two transposes.
template <class Op>
Names withChannelsFirst(ExportCall& call) {
  const Dims channelsFirst{0, 3, 1, 2}, channelsLast{0, 2, 3, 1};
  return call.formula([&](const std::vector<Tensor>& in) {
    const Op& given = call.as<Op>();
    const Op op = dfc::withChannelsFirst(given);
    std::vector<Tensor> operands;
    for (size_t i = 0; i < in.size(); ++i) {
      operands.push_back(isOperandLast(given, i) ? transpose(in[i], channelsFirst) : in[i]);
    }
    Builder& builder = *in[0].builder();
    const Tensor made = builder.op(op, operands, std::source_location::current());
    return std::vector<Tensor>{isResultLast(given) ? transpose(made, channelsLast) : made};
  });
}

} // namespace dfc::onnx
