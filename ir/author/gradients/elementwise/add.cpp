// add: d(a + b) = da + db.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Add&, GradientRule& rule) {
  rule.give(0, rule.cotangent());
  rule.give(1, rule.cotangent());
}

} // namespace dfc
