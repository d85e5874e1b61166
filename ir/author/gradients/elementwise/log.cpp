// log: d(log a) = da / a.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Log&, GradientRule& rule) { rule.give(0, rule.cotangent() / rule.operand(0)); }

} // namespace dfc
