// hardSwish: d(a g(a)) = (g(a) + a/6 where |a| < 3) da with g(a) = clip(a + 3, 0, 6) / 6; at -3 and 3 the
// slopes of the straight sides, 0 and 1.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::HardSwish&, GradientRule& rule) {
  const Tensor a = rule.operand(0), gate = clip(a + 3, 0, 6) * (1.0 / 6);
  const Tensor bent = compare(abs(a), 3, Direction::Lt);
  rule.give(0, rule.cotangent() * (gate + select(bent, a * (1.0 / 6), 0)));
}

} // namespace dfc
