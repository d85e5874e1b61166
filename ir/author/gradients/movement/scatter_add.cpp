// scatterAdd: the result is linear in both: `a` gets the gradient as it is, an update that of the slice which
// it was added to, and an update whose index is out of range, which was added nowhere, gets zeros.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/index_rules.h"

#include <fmt/format.h>

namespace dfc {
namespace {

// Whether each index names a place, as a condition that broadcasts to updates of this shape.
Tensor inRange(Tensor indices, int64_t length, const Shape& updates, size_t axis) {
  const auto limit = static_cast<double>(length);
  const Tensor wide = indices.type().element == ElementType::I64 ? indices : cast(indices, ElementType::I64);
  const Tensor known = compare(wide, -limit, Direction::Ge) & compare(wide, limit, Direction::Lt);
  Dims dims(indices.shape().dims().begin(), indices.shape().dims().end());
  dims.insert(dims.end(), updates.rank() - axis - indices.shape().rank(), 1);
  return dims.size() == indices.shape().rank() ? known : reshape(known, dims);
}

} // namespace

void gradientRule(const ops::ScatterAdd& op, GradientRule& rule) {
  rule.independentOf(1);
  rule.give(0, rule.cotangent());
  if (rule.wanted(2)) {
    const Shape &whole = rule.operand(0).shape(), &updates = rule.operand(2).shape();
    const size_t along = *normalAxis(op.axis, whole.rank());
    ops::Gather back;
    back.axis = op.axis;
    back.part = op.part;
    const Tensor taken =
        rule.builder().op(back, {rule.cotangent(), rule.operand(1)}, std::source_location::current());
    const int64_t length = op.part.lengthOf(whole[along]);
    rule.give(2, select(inRange(rule.operand(1), length, updates, along), taken, 0));
  }
}

} // namespace dfc
