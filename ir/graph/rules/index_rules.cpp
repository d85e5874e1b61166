#include "ir/graph/rules/index_rules.h"

#include <fmt/format.h>

namespace dfc {

TypeResult checkIndices(OpKind kind, OperandTypes operands, size_t which) {
  const ElementType element = operands[which].element;
  if (element == ElementType::I32 || element == ElementType::I64) {
    return {};
  }
  return refuse(kind, operands, fmt::format("the indices are {}, not i32 or i64", name(element)),
                "cast the indices to i64");
}

Dims gatheredDims(const Shape& whole, const Shape& indices, size_t axis) {
  Dims dims(whole.dims().begin(), whole.dims().begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), whole.dims().begin() + static_cast<ptrdiff_t>(axis) + 1, whole.dims().end());
  return dims;
}

std::optional<int64_t> indexedLength(const OpAttributes& attributes, OperandTypes operands, size_t which) {
  const auto along = [&](int64_t axis) {
    const Shape& shape = operands[0].shape;
    return shape[*normalAxis(axis, shape.rank())];
  };
  const auto* gather = attributes.getIf<ops::Gather>();
  const auto* scatter = attributes.getIf<ops::ScatterAdd>();
  const auto* oneHot = attributes.getIf<ops::OneHot>();
  if (which == 1 && gather != nullptr) {
    return gather->part.lengthOf(along(gather->axis));
  }
  if (which == 1 && scatter != nullptr) {
    return scatter->part.lengthOf(along(scatter->axis));
  }
  return which == 0 && oneHot != nullptr ? std::optional(oneHot->part.lengthOf(oneHot->depth)) : std::nullopt;
}

} // namespace dfc
