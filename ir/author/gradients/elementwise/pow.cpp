// pow: d(a^b) = b a^(b-1) da + a^b log(a) db, where a base that is not positive gives b no slope.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

#include <limits>

namespace dfc::ops {

TypeResult Pow::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Pow, operands, Domain::Float);
}

OpCost Pow::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, powFlops);
}

namespace {

// `a`, or 1 where b is 0 and 1/a infinite: there b a^(b-1) would be 0 times infinity in the place of 0. Where
// no b can be 0 the passes make it `a` again.
Tensor baseOfSlope(Tensor a, Tensor b) {
  const Tensor infinite = compare(abs(reciprocal(a)), std::numeric_limits<double>::infinity(), Direction::Eq);
  return select(compare(b, 0, Direction::Eq), select(infinite, 1, a), a);
}

} // namespace

void Pow::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0), b = rule.operand(1), result = rule.result();
  if (rule.wanted(0)) {
    rule.give(0, rule.cotangent() * (b * pow(baseOfSlope(a, b), b - 1)));
  }
  if (rule.wanted(1)) {
    const Tensor positive = compare(a, 0, Direction::Gt), logarithm = log(select(positive, a, 1));
    rule.give(1, rule.cotangent() * select(positive, result * logarithm, 0));
  }
}

} // namespace dfc::ops
