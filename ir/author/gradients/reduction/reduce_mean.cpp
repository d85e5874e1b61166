// reduceMean: every element of the operand gets its mean's gradient over the number of elements in that mean.
// Multiplied by the reciprocal before it is stretched: fewer operations, and 1/n is a number in f16 where n
// is none.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::ReduceMean& op, GradientRule& rule) {
  const Shape& shape = rule.operand(0).shape();
  const int64_t kept = std::max<int64_t>(rule.cotangent().shape().elements(), 1);
  const double averaged =
      op.count != 0 ? static_cast<double>(op.count)
                    : static_cast<double>(std::max<int64_t>(shape.elements(), 1)) / static_cast<double>(kept);
  rule.give(0, stretched(rule.cotangent() * (1 / averaged), shape, op.axes));
}

} // namespace dfc
