// Which elements of a value an op's result holds, where it computes none: of views, slices, transposes,
// splits.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/literal.h"

#include <optional>

namespace dfc {

bool holdsIndices(const TensorType& type);

/// Whether the op's result holds all elements of its first operand, in their order.
bool keepsOrder(const Graph& graph, OpId op);

/// Where elements of a row-major tensor lie in another: `offset`, and a stride for each axis.
struct Strided {
  int64_t offset = 0;
  Dims strides;
};

/// All elements, in their order.
Strided allOf(const Shape& shape);
/// Of result `result`, in the op's first operand; none where the op is not of these.
std::optional<Strided> takenBy(const Graph& graph, OpId op, uint32_t result);
/// The places that a result of this shape takes of its operand's.
Literal placesTaken(const Literal& from, const Shape& shape, const Strided& taken);

} // namespace dfc
