// slice: the gradient is padded with zeros to where its elements came from.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Slice& op, GradientRule& rule) {
  const Shape &whole = rule.operand(0).shape(), &part = rule.result().shape();
  Dims high, interior;
  for (size_t axis = 0; axis < whole.rank(); ++axis) {
    const int64_t stride = op.strides.empty() ? 1 : op.strides[axis];
    const int64_t covered = part[axis] == 0 ? 0 : (part[axis] - 1) * stride + 1;
    interior.push_back(part[axis] > 1 ? stride - 1 : 0);
    high.push_back(whole[axis] - op.starts[axis] - covered);
  }
  rule.give(0, dfc::pad(rule.cotangent(), op.starts, high, interior));
}

} // namespace dfc
