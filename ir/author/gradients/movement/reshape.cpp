// reshape: a view, so it costs nothing; the gradient takes the operand's shape back.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <algorithm>
#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Reshape&, GradientRule& rule) {
  const Shape& before = rule.operand(0).shape();
  rule.give(0, dfc::reshape(rule.cotangent(), {before.dims().begin(), before.dims().end()}));
}

} // namespace dfc
