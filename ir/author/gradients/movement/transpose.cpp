// transpose: the gradient goes through the inverse permutation.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace dfc {
void gradientRule(const ops::Transpose& op, GradientRule& rule) {
  Dims inverse(op.permutation.size());
  for (size_t axis = 0; axis < op.permutation.size(); ++axis) {
    inverse[static_cast<size_t>(op.permutation[axis])] = static_cast<int64_t>(axis);
  }
  rule.give(0, dfc::transpose(rule.cotangent(), inverse));
}

} // namespace dfc
