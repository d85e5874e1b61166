#include "ir/norm_rules.h"

#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"

#include <fmt/format.h>

#include <cmath>

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

TypeResult normTypes(OpKind kind, OperandTypes operands, int64_t axis, double epsilon) {
  if (TypeResult elements = checkElements(kind, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  if (TypeResult known = checkAxis(kind, operands, axis); !known.ok()) {
    return known;
  }
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    return refuse(kind, operands, fmt::format("an epsilon of {}", epsilon), "give a small number, 0 or more");
  }
  const Shape& shape = operands.front().shape;
  const Shape row(shape.dims().drop_front(*normalAxis(axis, shape.rank())));
  for (const TensorType& operand : operands.drop_front()) {
    if (!(operand.shape == row)) {
      return refuse(kind, operands,
                    fmt::format("{} normalises rows of {}, which {} does not fit", nameOf(kind),
                                toString(row), toString(operand.shape)),
                    fmt::format("give scale and bias the shape {} of the normalised axes, or another axis",
                                toString(row)));
    }
  }
  return TypeResult::of(operands.front());
}

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
