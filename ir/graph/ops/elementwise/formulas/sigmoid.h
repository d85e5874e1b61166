// sigmoid(a): 1 / (1 + exp(-a)), without overflow (ONNX Sigmoid).
#pragma once

#include "ir/graph/formula/formula_op.h"

namespace dfc::ops {

struct Sigmoid : FormulaOp<1> {
  static constexpr std::string_view onnxName = "Sigmoid";
  static constexpr std::array known = {Known{{0}, 0.5}, Known{{1000}, 1},
                                       Known{{1.0986122886681098}, 0.75}, // log 3: 3 / (3 + 1)
                                       Known{{-720}, 2.0322308024e-313}};

  static constexpr S of(S a) { return logistic(a, 1); }
  static constexpr S derivative(S /*a*/, S result) { return result * (1 - result); }

  /// weight / (1 + exp(-x)), by way of exp(-|x|), so that nothing overflows.
  static constexpr S logistic(S x, S weight) {
    const S z = exp(-abs(x));
    const S numerator = select(x < 0, weight * z, weight);
    return numerator / (1 + z);
  }
};

} // namespace dfc::ops
