// dropout: the gradient is dropped where the element was, and scaled as it was: the same op on it. The mask
// is that of ir/graph/rules/dropout_mask.h.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Dropout& op, GradientRule& rule) {
  rule.independentOf(1);
  rule.give(0, rule.builder().op(op, {rule.cotangent(), rule.operand(1)}, std::source_location::current()));
}

} // namespace dfc
