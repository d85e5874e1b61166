// sqrt: d(sqrt a) = da / (2 sqrt(a)), from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Sqrt&, GradientRule& rule) {
  rule.give(0, rule.cotangent() * 0.5 / rule.result());
}

} // namespace dfc
