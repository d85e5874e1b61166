// logSoftmax: with l the result, da = dl - exp(l) sum(dl) along the axis.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::LogSoftmax& op, GradientRule& rule) {
  const Tensor cotangent = rule.cotangent();
  rule.give(0, cotangent - dfc::exp(rule.result()) * reduceSum(cotangent, {op.axis}, true));
}

} // namespace dfc
