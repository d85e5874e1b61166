// floor: flat wherever it has a derivative.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Floor&, GradientRule& rule) { rule.independentOf(0); }

} // namespace dfc
