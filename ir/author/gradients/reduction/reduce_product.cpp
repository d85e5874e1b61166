// reduceProduct: an element gets the product of all the others. Without a zero among them that is the
// quotient of the product by the element; with one zero it is the product of all that are none, for the zero
// alone; with several it is 0 for all. f16 and bf16 do this in f32, where a product of many does not leave
// the range between. Right to first order everywhere; the second derivative at a zero is not seen by it.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"

namespace dfc {
void gradientRule(const ops::ReduceProduct& op, GradientRule& rule) {
  const ElementType element = rule.operand(0).type().element;
  const Tensor operand = widened(rule.operand(0)), cotangent = widened(rule.cotangent());
  const Tensor isZero = compare(operand, 0, Direction::Eq);
  const Tensor filled = select(isZero, 1, operand);
  const Tensor product = reduceProduct(filled, op.axes, true); // of all that are not 0
  const Tensor zeros = reduceSum(cast(isZero, operand.type().element), op.axes, true);
  const Tensor ofRest = select(isZero, compare(zeros, 1, Direction::Eq), compare(zeros, 0, Direction::Eq));
  const Tensor gradient = withAxesKept(cotangent, operand.shape(), op.axes) * (product / filled);
  rule.give(0, narrowed(select(ofRest, gradient, 0), element));
}

} // namespace dfc
