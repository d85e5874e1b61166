// gather: the gradient of every slice goes back to where the slice came from; slices that were taken several
// times add up. Indices have none.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/index_rules.h"

namespace dfc {
void gradientRule(const ops::Gather& op, GradientRule& rule) {
  rule.independentOf(1);
  if (rule.wanted(0)) {
    const Tensor zeros = zerosOf(rule.builder(), rule.operand(0).type());
    rule.give(0, dfc::scatterAdd(zeros, rule.operand(1), rule.cotangent(), op.axis));
  }
}

} // namespace dfc
