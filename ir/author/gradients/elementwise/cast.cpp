// cast: the gradient is cast back; through an integer or bool none passes.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Cast& op, GradientRule& rule) {
  const ElementType from = rule.operand(0).type().element;
  rule.give(0, from == op.to ? rule.cotangent() : dfc::cast(rule.cotangent(), from));
}

} // namespace dfc
