// mul: d(a b) = b da + a db.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Mul&, GradientRule& rule) {
  if (rule.wanted(0)) {
    rule.give(0, rule.cotangent() * rule.operand(1));
  }
  if (rule.wanted(1)) {
    rule.give(1, rule.cotangent() * rule.operand(0));
  }
}

} // namespace dfc
