// pow: d(a^b) = b a^(b-1) da + a^b log(a) db, where b = 0 gives a no slope and a base that is not positive
// gives b none.
#include "ir/dsl.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Pow::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Pow, operands, Domain::Float);
}

OpCost Pow::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, powFlops);
}

void Pow::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0), b = rule.operand(1), result = rule.result();
  if (rule.wanted(0)) {
    rule.give(0, rule.cotangent() * select(compare(b, 0, Direction::Eq), 0, b * pow(a, b - 1)));
  }
  if (rule.wanted(1)) {
    const Tensor logarithm = log(select(compare(a, 0, Direction::Gt), a, 1));
    rule.give(1, rule.cotangent() * (result * logarithm));
  }
}

} // namespace dfc::ops
