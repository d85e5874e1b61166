// maxPool: its gradient is an op of its own, which finds the largest element of each window again.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/windows.h"

namespace dfc {
void gradientRule(const ops::MaxPool& op, GradientRule& rule) {
  ops::MaxPoolGradient picked;
  picked.window = op.window;
  picked.strides = op.strides;
  picked.low = op.low;
  picked.high = op.high;
  picked.dilations = op.dilations;
  picked.layout = op.layout;
  rule.give(0, rule.builder().op(std::move(picked), {rule.operand(0), rule.cotangent()},
                                 std::source_location::current()));
}

} // namespace dfc
