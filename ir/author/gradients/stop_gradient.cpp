// stopGradient: what gradients take for a constant.
#include "ir/author/gradient_rules.h"

namespace dfc {

void gradientRule(const ops::StopGradient&, GradientRule& rule) { rule.independentOf(0); }

} // namespace dfc
