// sin: d sin(a) = cos(a) da.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Sin&, GradientRule& rule) {
  rule.give(0, rule.cotangent() * cos(rule.operand(0)));
}

} // namespace dfc
