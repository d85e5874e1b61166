// selu(a): gamma a where a > 0, gamma alpha (exp(a) - 1) below, with alpha 1.67326… and gamma 1.05070…, for
// which layers keep mean 0 and variance 1 (Klambauer et al. 2017, "Self-normalizing neural networks"; ONNX
// Selu without attributes). Element type: a float. At 0 the derivative of the lower side.
#pragma once

#include "ir/graph/formula/formula_op.h"

namespace dfc::ops {

struct Selu : FormulaOp<1> {
  static constexpr std::string_view onnxName = "Selu";
  static constexpr std::array known = {Known{{0}, 0}, Known{{1}, 1.0507009873554805},
                                       Known{{-1}, -1.1113307378125628}, Known{{-100}, -1.7580993408473768}};

  static constexpr S of(S a) {
    const S below = alpha * expm1(min(a, 0)); // min: exp of a large a would be infinite
    return gamma * select(a > 0, a, below);
  }

 private:
  static constexpr long double alpha = 1.6732632423543772848L, gamma = 1.0507009873554804934L;
};

} // namespace dfc::ops
