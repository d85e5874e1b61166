// Layouts of convolutions and pools. An op with the channels last is defined by the same op with the channels
// first, of transposed operands; rules, evaluator and backends without kernels of their own use that form.
#pragma once

#include "ir/graph/op.h"

#include <array>
#include <optional>

namespace dfc {

inline constexpr std::array<std::string_view, 2> layoutNames = {"nchw", "nhwc"};
/// The attribute `layout` of an op.
void layoutField(AttributeVisitor& visitor, ImageLayout& layout);

/// Permutations of transposes between the two layouts: axis i of the result is axis [i] of the operand.
inline constexpr std::array<int64_t, 4> toChannelsLast = {0, 2, 3, 1}, toChannelsFirst = {0, 3, 1, 2};
/// The dimensions in the other order; other ranks than 4 unchanged.
Shape channelsLast(const Shape& channelsFirst);
Shape channelsFirst(const Shape& channelsLast);
/// [N, C, H, W] of an image of this layout (or of a filter).
inline Shape channelsFirst(ImageLayout layout, const Shape& shape) {
  return layout == ImageLayout::Nhwc ? channelsFirst(shape) : shape;
}

/// The op with its channels first.
template <class Op>
Op withChannelsFirst(Op op) {
  if constexpr (requires { op.shape; }) {
    if (op.layout == ImageLayout::Nhwc && op.shape.size() == 4) {
      op.shape = {op.shape[0], op.shape[3], op.shape[1], op.shape[2]};
    }
  }
  op.layout = ImageLayout::Nchw;
  return op;
}
/// The same of an op that has its channels last; none of every other op.
std::optional<OpAttributes> channelsFirstForm(const OpAttributes& attributes);
/// The op with its channels last in place of a convolution or pool with its channels first; none of others.
std::optional<OpAttributes> channelsLastForm(const OpAttributes& attributes);

/// The type rule of an op with its channels last, by that of its form with the channels first.
template <class Op>
TypeResult typesInLayout(const Op& op, OperandTypes operands) {
  if (op.layout != ImageLayout::Nhwc) {
    return TypeResult::fail("unknown layout", "it is nchw or nhwc, or left out");
  }
  llvm::SmallVector<TensorType, 4> first;
  for (const TensorType& type : operands) {
    first.push_back({type.element, channelsFirst(type.shape)});
  }
  TypeResult result = withChannelsFirst(op).types(first);
  if (!result.ok()) {
    result.error += " (with the channels first)";
  }
  for (TensorType& type : result.types) {
    type.shape = channelsLast(type.shape);
  }
  return result;
}

} // namespace dfc
