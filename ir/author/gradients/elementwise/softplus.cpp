// softplus: its slope is the sigmoid.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Softplus&, GradientRule& rule) {
  rule.give(0, rule.cotangent() * sigmoid(rule.operand(0)));
}

} // namespace dfc
