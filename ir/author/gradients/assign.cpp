// assign: at most a copy of the value into the parameter. Its result is the value, so the gradient goes
// there; the parameter that it overwrites has no influence on it.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Assign&, GradientRule& rule) {
  rule.independentOf(0);
  rule.give(1, rule.cotangent());
}

} // namespace dfc
