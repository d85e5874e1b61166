// What gather, scatterAdd and oneHot share: operands that name places along an axis.
#pragma once

#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// Ok (without types) when operand `which` holds indices: i32 or i64.
TypeResult checkIndices(OpKind kind, OperandTypes operands, size_t which);

/// The shape of what `indices` select along `axis` (counted from the front): `whole` with that axis replaced
/// by all axes of the indices. May be no valid shape.
Dims gatheredDims(const Shape& whole, const Shape& indices, size_t axis);

/// The length of the axis that operand `which` of a call indexes; none where it holds no indices.
/// For random operands in tests and calibrations.
std::optional<int64_t> indexedLength(const OpAttributes& attributes, OperandTypes operands, size_t which);

} // namespace dfc
