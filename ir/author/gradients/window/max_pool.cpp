// maxPool: its gradient is an op of its own, which finds the largest element of each window again.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/windows.h"

namespace dfc {
void gradientRule(const ops::MaxPool& op, GradientRule& rule) {
  rule.give(0, rule.builder().op(samePool<ops::MaxPoolGradient>(op), {rule.operand(0), rule.cotangent()},
                                 std::source_location::current()));
}

} // namespace dfc
