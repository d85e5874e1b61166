// Layouts of convolutions and pools. An op with the channels last is defined by the same op with the channels
// first, of transposed operands; rules, evaluator and backends without kernels of their own use that form.
#pragma once

#include "ir/graph/op.h"

#include <array>
#include <optional>

namespace dfc {

inline constexpr std::array<std::string_view, 3> layoutNames = {"nchw", "nhwc", "nhwc_oihw"};
/// The attribute `layout` of an op.
void layoutField(AttributeVisitor& visitor, ImageLayout& layout);

/// Permutations of transposes between the two layouts: axis i of the result is axis [i] of the operand.
inline constexpr std::array<int64_t, 4> toChannelsLast = {0, 2, 3, 1}, toChannelsFirst = {0, 3, 1, 2};
/// The dimensions in the other order; other ranks than 4 unchanged.
Shape channelsLast(const Shape& channelsFirst);
Shape channelsFirst(const Shape& channelsLast);
/// [N, C, H, W] of an image of this layout.
inline Shape channelsFirst(ImageLayout layout, const Shape& shape) {
  return layout == ImageLayout::Nchw ? shape : channelsFirst(shape);
}
/// [M, C / groups, KH, KW] of a filter of this layout.
inline Shape filterChannelsFirst(ImageLayout layout, const Shape& shape) {
  return layout == ImageLayout::Nhwc ? channelsFirst(shape) : shape;
}

/// Whether the operand has its channels last; and the result.
template <class Op>
bool isOperandLast(const Op& op, size_t operand) {
  if constexpr (requires { Op::filterOperand; }) {
    return op.layout == ImageLayout::Nhwc ||
           (op.layout == ImageLayout::NhwcOihw && operand != Op::filterOperand);
  }
  return op.layout != ImageLayout::Nchw;
}
template <class Op>
bool isResultLast(const Op& op) {
  return op.layout == ImageLayout::Nhwc ||
         (op.layout == ImageLayout::NhwcOihw && !requires { Op::makesFilter; });
}
/// The same of the attributes of any op.
bool isOperandLast(const OpAttributes& attributes, size_t operand);
bool isResultLast(const OpAttributes& attributes);

/// The op with its channels first.
template <class Op>
Op withChannelsFirst(Op op) {
  if constexpr (requires { op.shape; }) {
    if (isResultLast(op) && op.shape.size() == 4) {
      op.shape = {op.shape[0], op.shape[3], op.shape[1], op.shape[2]};
    }
  }
  op.layout = ImageLayout::Nchw;
  return op;
}
/// The same of an op that has its channels last; none of every other op.
std::optional<OpAttributes> channelsFirstForm(const OpAttributes& attributes);
/// The op with its channels last in place of a convolution or pool with its channels first; none of others.
/// `keepFilter`: the filter of a convolution keeps its order.
std::optional<OpAttributes> channelsLastForm(const OpAttributes& attributes, bool keepFilter = false);

/// The type rule of an op with its channels last, by that of its form with the channels first.
template <class Op>
TypeResult typesInLayout(const Op& op, OperandTypes operands) {
  constexpr bool hasFilter = requires { Op::filterOperand; }
  || requires { Op::makesFilter; };
  if (op.layout != ImageLayout::Nhwc && !(hasFilter && op.layout == ImageLayout::NhwcOihw)) {
    return TypeResult::fail("unknown layout",
                            "it is nchw or nhwc, of convolutions also nhwc_oihw, or left out");
  }
  llvm::SmallVector<TensorType, 4> first;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = operands[i].shape;
    first.push_back({operands[i].element, isOperandLast(op, i) ? channelsFirst(shape) : shape});
  }
  TypeResult result = withChannelsFirst(op).types(first);
  if (!result.ok()) {
    result.error += " (with the channels first)";
  }
  for (TensorType& type : result.types) {
    type.shape = isResultLast(op) ? channelsLast(type.shape) : type.shape;
  }
  return result;
}

} // namespace dfc
