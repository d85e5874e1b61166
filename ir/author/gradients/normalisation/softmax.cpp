// softmax: with s the result, da = s (ds - sum(ds s)) along the axis.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::Softmax& op, GradientRule& rule) {
  const Tensor result = rule.result(), cotangent = rule.cotangent();
  rule.give(0, result * (cotangent - reduceSum(cotangent * result, {op.axis}, true)));
}

} // namespace dfc
