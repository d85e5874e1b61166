// neg: d(-a) = -da.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Neg&, GradientRule& rule) { rule.give(0, -rule.cotangent()); }

} // namespace dfc
