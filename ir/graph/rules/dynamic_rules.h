// What dynamicSlice and dynamicUpdateSlice share: a box whose place along some axes is known only when the op
// runs. Its start is clamped, so that the box always lies inside the tensor (XLA DynamicSlice).
#pragma once

#include "ir/graph/rules/op_rules.h"

#include <algorithm>

namespace dfc {

/// The axes that the starts are of, counted from the front, in the order of the starts; no axes written means
/// all. None when one is outside the rank or named twice.
std::optional<Dims> startedAxes(const Dims& written, size_t rank);
/// Ok (without types) when the axes are axes of operand 0, and operand `which` holds a start for each: i32 or
/// i64, a vector, or a scalar for one axis.
TypeResult checkStarts(OpKind kind, OperandTypes operands, size_t which, const Dims& axes);
/// Where a box of `size` elements begins along an axis of `length`.
inline int64_t clampedStart(int64_t start, int64_t length, int64_t size) {
  return std::clamp<int64_t>(start, 0, length - size);
}

/// An axis along which a box of fewer elements than the whole lies at a start.
struct MovingAxis {
  size_t start = 0;   ///< which of the starts
  size_t axis = 0;    ///< of the whole
  int64_t most = 0;   ///< the largest start
  int64_t stride = 1; ///< elements of the whole from one place along the axis to the next
  int64_t length = 0; ///< of the whole
  int64_t size() const { return length - most; }
};
/// Those of a box of shape `box` in `whole`. `axes`: as written.
llvm::SmallVector<MovingAxis, 4> movingAxes(const Shape& whole, const Shape& box, const Dims& axes);
/// Elements of the box that are always neighbours in the whole: both the lengths of its runs and where they
/// begin are multiples of this.
int64_t contiguousElements(const Shape& whole, const Shape& box);
/// The split rule of both ops, whose starts are their last operand: every axis but those of the starts is
/// free. Along those, which part holds the box is known only when the op runs.
SplitRule boxSplit(OperandTypes operands, OperandTypes results, const Dims& axes);

} // namespace dfc
