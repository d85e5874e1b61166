// cut: the gradient passes through, and is not asked to be cut: the wish is about the value alone, and where
// the gradient is best cut otherwise, costs say so.
#include "ir/author/gradient_rules.h"

namespace dfc {

void gradientRule(const ops::Cut&, GradientRule& rule) { rule.give(0, rule.cotangent()); }

} // namespace dfc
