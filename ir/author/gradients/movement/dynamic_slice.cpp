// dynamicSlice: the gradient is written where its elements came from, into zeros. The starts have none.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::DynamicSlice& op, GradientRule& rule) {
  rule.independentOf(1);
  if (rule.wanted(0)) {
    const Tensor zeros = zerosOf(rule.builder(), rule.operand(0).type());
    rule.give(0, dynamicUpdateSlice(zeros, rule.cotangent(), rule.operand(1), op.axes));
  }
}

} // namespace dfc
