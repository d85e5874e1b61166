// reduceSum: every element of the operand gets its sum's gradient.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::ReduceSum& op, GradientRule& rule) {
  rule.give(0, stretched(rule.cotangent(), rule.operand(0).shape(), op.axes));
}

} // namespace dfc
