// concat: each operand gets its own slice of the gradient.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Concat& op, GradientRule& rule) {
  const Shape& whole = rule.result().shape();
  const size_t along = *normalAxis(op.axis, whole.rank());
  Dims starts(whole.rank(), 0);
  Dims ends(whole.dims().begin(), whole.dims().end());
  ends[along] = 0;
  for (size_t i = 0; i < rule.operandCount(); ++i) {
    starts[along] = ends[along];
    ends[along] += rule.operand(i).shape()[along];
    if (rule.wanted(i)) {
      rule.give(i, dfc::slice(rule.cotangent(), starts, ends));
    }
  }
}

} // namespace dfc
