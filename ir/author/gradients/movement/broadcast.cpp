// broadcast: its gradient is summed back over the axes that were stretched, as `give` does for every operand.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Broadcast&, GradientRule& rule) { rule.give(0, rule.cotangent()); }

} // namespace dfc
