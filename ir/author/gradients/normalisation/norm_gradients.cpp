#include "ir/author/gradients/normalisation/norm_gradients.h"

#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rule.h"

namespace dfc {
namespace {

Dims axesFrom(size_t first, size_t rank) {
  Dims axes;
  for (size_t axis = first; axis < rank; ++axis) {
    axes.push_back(static_cast<int64_t>(axis));
  }
  return axes;
}

} // namespace

void giveNormGradients(GradientRule& rule, double epsilon, bool centred) {
  if (rule.operand(1).shape().elements() == 0) { // rows of nothing have no mean, and no gradient has elements
    for (size_t operand = 0; operand < rule.operandCount(); ++operand) {
      if (rule.wanted(operand)) {
        rule.give(operand, rule.operand(operand));
      }
    }
    return;
  }
  const ElementType element = rule.operand(0).type().element;
  const Tensor a = widened(rule.operand(0)), scale = widened(rule.operand(1));
  const Tensor cotangent = widened(rule.cotangent());
  const Shape& row = scale.shape();
  const size_t first = a.shape().rank() - row.rank();
  const Dims axes = axesFrom(first, a.shape().rank());
  const Tensor centre = centred ? a - reduceMean(a, axes, true) : a;
  const Tensor inverse = rsqrt(reduceMean(centre * centre, axes, true) + epsilon);
  const Tensor x = centre * inverse;
  if (rule.wanted(0)) {
    const Tensor g = cotangent * scale;
    const Tensor level = centred ? g - reduceMean(g, axes, true) : g;
    rule.give(0, narrowed((level - x * reduceMean(g * x, axes, true)) * inverse, element));
  }
  if (rule.wanted(1)) {
    rule.give(1, narrowed(summedTo(cotangent * x, row), element));
  }
  if (rule.operandCount() > 2 && rule.wanted(2)) {
    rule.give(2, narrowed(summedTo(cotangent, row), element));
  }
}

} // namespace dfc
