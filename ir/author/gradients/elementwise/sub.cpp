// sub: d(a - b) = da - db.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Sub&, GradientRule& rule) {
  rule.give(0, rule.cotangent());
  if (rule.wanted(1)) {
    rule.give(1, -rule.cotangent());
  }
}

} // namespace dfc
