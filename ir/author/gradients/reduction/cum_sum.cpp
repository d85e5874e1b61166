// cumSum: an element is in the sums of all that come at or after it (after it, where sums are exclusive), so
// its gradient is the running sum of theirs, the other way round.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::CumSum& op, GradientRule& rule) {
  Running other;
  other.exclusive = op.exclusive;
  other.reverse = !op.reverse;
  rule.give(0, cumSum(rule.cotangent(), op.axis, other));
}

} // namespace dfc
