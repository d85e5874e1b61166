// trilu: what was kept gets its gradient, what was not gets none.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Trilu& op, GradientRule& rule) {
  rule.give(0, dfc::trilu(rule.cotangent(), op.k, op.upper));
}

} // namespace dfc
