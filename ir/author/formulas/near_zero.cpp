// Functions that lose their digits near 0 when they are written as they read.
#include "ir/author/composites.h"

namespace dfc {
namespace {

// The tensor of a call of one operand, and the place that its ops are said to be written at.
template <class Formula>
Tensor written(const Operand& a, const Formula& formula) {
  const Tensor* tensor = a.tensor();
  if (tensor == nullptr || tensor->builder() == nullptr || !tensor->valid()) {
    return tensor == nullptr ? Tensor() : *tensor;
  }
  Builder& builder = *tensor->builder();
  const auto place = builder.at(builder.locate(a.where()));
  return formula(*tensor);
}

} // namespace

// What 1 + a loses of a is known exactly, and is worth its part of 1 + a (Goldberg 1991, theorem 4, as a
// sum). Where a is not small nothing is lost, and the term is 0, so that it has no edges at -1 and infinity.
Tensor log1p(Operand a) {
  return written(a, [](Tensor x) {
    const Tensor small = select(compare(abs(x), 0.5, Direction::Lt), x, 0);
    const Tensor rounded = small + 1;
    return log(x + 1) + (small - (rounded - 1)) / rounded;
  });
}

// exp(a) - 1 = tanh(a / 2) (exp(a) + 1), in which nothing cancels.
Tensor expm1(Operand a) {
  return written(a, [](Tensor x) { return tanh(x * 0.5) * (exp(x) + 1); });
}

} // namespace dfc
