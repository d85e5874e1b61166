// abs: d|a| = sign(a) da, and 0 at 0.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Abs&, GradientRule& rule) {
  rule.give(0, rule.cotangent() * sign(rule.operand(0)));
}

} // namespace dfc
