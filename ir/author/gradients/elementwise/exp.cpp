// exp: d(exp a) = exp(a) da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Exp&, GradientRule& rule) { rule.give(0, rule.cotangent() * rule.result()); }

} // namespace dfc
