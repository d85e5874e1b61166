// The gradients of layerNorm and rmsNorm. With x the normalised operand (a less its mean if `centred`, times
// 1 / sqrt(mean of its square + epsilon)), and g = cotangent * scale:
//   da = (g - [mean(g) if centred] - x mean(g x)) / sqrt(…),  dscale = sum(cotangent x),  dbias =
//   sum(cotangent)
// f16 and bf16 are computed in f32, as the norms themselves are, and rounded once.
#include "ir/author/decompositions.h"
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/graph/rules/norm_rules.h"

namespace dfc {
namespace {

Dims axesFrom(size_t first, size_t rank) {
  Dims axes;
  for (size_t axis = first; axis < rank; ++axis) {
    axes.push_back(static_cast<int64_t>(axis));
  }
  return axes;
}

// Rows of nothing have no mean, and no gradient has elements.
std::vector<Tensor> ofEmptyRows(const NormGradientForm& op, llvm::ArrayRef<Tensor> operands) {
  Builder& builder = *operands[0].builder();
  std::vector<Tensor> results = {zerosOf(builder, operands[0].type())};
  while (results.size() < 1 + op.vectors()) {
    results.push_back(zerosOf(builder, operands[1].type()));
  }
  return results;
}

std::vector<Tensor> gradientsOf(const NormGradientForm& op, llvm::ArrayRef<Tensor> operands) {
  if (operands[1].shape().elements() == 0) {
    return ofEmptyRows(op, operands);
  }
  const ElementType element = operands[0].type().element;
  const Tensor a = widened(operands[0]), scale = widened(operands[1]), cotangent = widened(operands[2]);
  const Shape& row = scale.shape();
  const Dims axes = axesFrom(a.shape().rank() - row.rank(), a.shape().rank());
  const Tensor centre = op.centred ? a - reduceMean(a, axes, true) : a;
  const Tensor inverse = rsqrt(reduceMean(centre * centre, axes, true) + op.epsilon);
  const Tensor x = centre * inverse;
  const Tensor g = cotangent * scale;
  const Tensor level = op.centred ? g - reduceMean(g, axes, true) : g;
  std::vector<Tensor> results = {narrowed((level - x * reduceMean(g * x, axes, true)) * inverse, element)};
  if (op.toScale) {
    results.push_back(narrowed(summedTo(cotangent * x, row), element));
  }
  if (op.toBias) {
    results.push_back(narrowed(summedTo(cotangent, row), element));
  }
  return results;
}

} // namespace

std::vector<Tensor> decomposition(const ops::LayerNormGradient& op, llvm::ArrayRef<Tensor> operands) {
  return gradientsOf({op.axis, op.epsilon, true, op.toScale, op.toBias}, operands);
}

std::vector<Tensor> decomposition(const ops::RmsNormGradient& op, llvm::ArrayRef<Tensor> operands) {
  return gradientsOf({op.axis, op.epsilon, false, op.toScale, false}, operands);
}

} // namespace dfc
