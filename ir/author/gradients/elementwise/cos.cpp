// cos: d cos(a) = -sin(a) da.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Cos&, GradientRule& rule) {
  rule.give(0, -(rule.cotangent() * sin(rule.operand(0))));
}

} // namespace dfc
