// Bounds of attention and its gradient, uniform over their elements, from the largest magnitudes of the
// operands. Scores are off by the rounding of a product; a weight by the factor exp of that; weights of a row
// sum to 1. Intermediate results may be rounded to the element type, as a decomposition does.
#include "tests/conformance/bounds.h"

#include "ir/graph/rules/attention_shape.h"

#include <algorithm>
#include <cmath>

namespace dfc::test {
namespace {

struct Sizes {
  AttentionShape shape;
  double scale, epsilon;
  double q, k, v;

  Sizes(const ops::Attention& op, llvm::ArrayRef<Literal> operands)
      : shape(knownAttentionShape(op, {operands[0].type(), operands[1].type(), operands[2].type()})),
        scale(std::fabs(op.scaleFor(shape.width))), epsilon(epsilonOf(operands[0].type().element)),
        q(largestMagnitude(operands[0])), k(largestMagnitude(operands[1])), v(largestMagnitude(operands[2])) {
  }

  double largestScore() const { return static_cast<double>(shape.width) * q * k * scale; }
  /// How far a score may be off; and, relatively, a weight.
  double scoreError() const { return epsilon * static_cast<double>(shape.width + 4) * (q * k * scale); }
  double weightError() const {
    return std::expm1(2 * scoreError()) + epsilon * (static_cast<double>(shape.keys) + 8 + largestScore());
  }
};

Bound within(double absolute) {
  return {4, [absolute](int64_t) { return absolute; }};
}

} // namespace

Bound attentionBound(const ops::Attention& op, llvm::ArrayRef<Literal> operands, size_t result) {
  const Sizes sizes(op, operands);
  return within(result == 0 ? sizes.weightError() * sizes.v
                            : sizes.scoreError() + sizes.epsilon * (8 + sizes.largestScore()));
}

Bound attentionBound(const ops::AttentionGradient& op, llvm::ArrayRef<Literal> operands, size_t result) {
  const Sizes sizes(op.forward, operands);
  const double cotangent = largestMagnitude(operands[3]), delta = largestMagnitude(operands[5]);
  const auto queries = static_cast<double>(sizes.shape.queries * sizes.shape.group());
  const auto terms = static_cast<double>(sizes.shape.keys + sizes.shape.valueWidth + sizes.shape.width);
  const double relative = sizes.weightError() + sizes.epsilon * (terms + queries + 16);
  const double ofScores = static_cast<double>(sizes.shape.valueWidth) * cotangent * sizes.v + delta;
  if (op.forward.layout == AttentionLayout::Packed) { // all three in one
    const double ofQ = relative * ofScores * sizes.k * sizes.scale,
                 ofK = relative * queries * ofScores * sizes.q * sizes.scale;
    return within(std::max({ofQ, ofK, relative * queries * cotangent}));
  }
  switch (result) {
  case 0: return within(relative * ofScores * sizes.k * sizes.scale);
  case 1: return within(relative * queries * ofScores * sizes.q * sizes.scale);
  default: return within(relative * queries * cotangent);
  }
}

} // namespace dfc::test
