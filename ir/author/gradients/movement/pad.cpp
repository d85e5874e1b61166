// pad: the gradient is the slice that the operand's elements went to.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <algorithm>
#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Pad& op, GradientRule& rule) {
  const Shape& part = rule.operand(0).shape();
  Dims ends, strides;
  for (size_t axis = 0; axis < part.rank(); ++axis) {
    const int64_t gap = op.interior.empty() ? 0 : op.interior[axis];
    strides.push_back(part[axis] > 1 ? gap + 1 : 1);
    ends.push_back(op.low[axis] + (part[axis] == 0 ? 0 : (part[axis] - 1) * (gap + 1) + 1));
  }
  rule.give(0, dfc::slice(rule.cotangent(), op.low, ends, strides));
}

} // namespace dfc
