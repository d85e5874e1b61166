// Normal numbers of two uniform ones each, the first a radius, the second an angle.
#include "ir/author/composites.h"

#include <numbers>

namespace dfc {
namespace {

// Rows of `count` uniform numbers, one as a line of elements.
Tensor rowOf(Tensor uniform, int64_t row, int64_t count) {
  return slice(uniform, {row, 0}, {row + 1, count});
}

} // namespace

Tensor randomNormal(Operand step, const TensorType& type, int64_t seed) {
  const Tensor* tensor = step.tensor();
  if (tensor == nullptr || tensor->builder() == nullptr || !tensor->valid()) {
    return tensor == nullptr ? Tensor() : *tensor;
  }
  const auto place = tensor->builder()->at(tensor->builder()->locate(step.where()));
  const int64_t count = type.shape.elements();
  const Tensor uniform =
      randomUniform(step, {type.element, {2, count}}, seed); // both are above 0 and below 1
  const Tensor radius = sqrt(log(rowOf(uniform, 0, count)) * -2);
  const Tensor normal = radius * cos(rowOf(uniform, 1, count) * (2 * std::numbers::pi));
  return reshape(normal, Dims(type.shape.dims().begin(), type.shape.dims().end()));
}

} // namespace dfc
