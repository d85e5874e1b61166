// quantizedMatmul: by its formula. The integers have no gradient.
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::QuantizedMatmul& op, GradientRule& rule) {
  rule.independentOf(1);
  decomposedGradient(op, rule);
}
} // namespace dfc
