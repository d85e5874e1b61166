// pow: d(a^b) = b a^(b-1) da + a^b log(a) db, where a base that is not positive gives b no gradient.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
namespace {

// `a`, or 1 where b is 0 and 1/a infinite: there b a^(b-1) would be 0 times infinity in the place of 0. Where
// no b can be 0 the passes make it `a` again.
Tensor baseOfSlope(Tensor a, Tensor b) {
  const Tensor infinite = compare(abs(reciprocal(a)), std::numeric_limits<double>::infinity(), Direction::Eq);
  return select(compare(b, 0, Direction::Eq), select(infinite, 1, a), a);
}

} // namespace

void gradientRule(const ops::Pow&, GradientRule& rule) {
  const Tensor a = rule.operand(0), b = rule.operand(1), result = rule.result();
  if (rule.wanted(0)) {
    rule.give(0, rule.cotangent() * (b * pow(baseOfSlope(a, b), b - 1)));
  }
  if (rule.wanted(1)) {
    const Tensor positive = compare(a, 0, Direction::Gt), logarithm = log(select(positive, a, 1));
    rule.give(1, rule.cotangent() * select(positive, result * logarithm, 0));
  }
}

} // namespace dfc
