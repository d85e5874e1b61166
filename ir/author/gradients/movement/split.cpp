// split: the gradients of the parts, joined again.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Split& op, GradientRule& rule) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < op.sizes.size(); ++i) {
    parts.push_back(rule.cotangent(i));
  }
  rule.give(0, concat(parts, op.axis));
}

} // namespace dfc
