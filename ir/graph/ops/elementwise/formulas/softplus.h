// softplus(a): log(1 + exp(a)), without overflow, and with all bits of small results (ONNX Softplus).
#pragma once

#include "ir/graph/formula/formula_op.h"

namespace dfc::ops {

struct Softplus : FormulaOp<1> {
  static constexpr std::string_view onnxName = "Softplus";
  static constexpr std::array known = {Known{{0}, 0.69314718055994531}, // log 2
                                       Known{{1000}, 1000}, Known{{-1000}, 0},
                                       Known{{-40}, 4.2483542552915889e-18}}; // exp(-40)

  static constexpr S of(S a) { return select(a > 0, a, 0) + log1pWithin(exp(-abs(a))); }
  static constexpr S derivative(S a, S /*result*/) { return sigmoid(a); }
};

} // namespace dfc::ops
