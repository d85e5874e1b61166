// select: each branch gets the gradient where the condition chose it, and 0 elsewhere.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Select&, GradientRule& rule) {
  if (rule.wanted(1)) {
    rule.give(1, dfc::select(rule.operand(0), rule.cotangent(), 0));
  }
  if (rule.wanted(2)) {
    rule.give(2, dfc::select(rule.operand(0), 0, rule.cotangent()));
  }
}

} // namespace dfc
