// mish(a): a tanh(softplus(a)), a smooth likeness of relu that dips below 0 (Misra 2019, "Mish: a self
// regularized non-monotonic activation function"; ONNX Mish). Element type: a float.
#pragma once

#include "ir/graph/formula/formula_op.h"

namespace dfc::ops {

struct Mish : FormulaOp<1> {
  static constexpr std::string_view onnxName = "Mish";
  static constexpr std::array known = {Known{{0}, 0}, Known{{1}, 0.8650983882673103},
                                       Known{{-1}, -0.3034014613741089}, Known{{1000}, 1000}};

  static constexpr S of(S a) { return a * tanh(softplus(a)); }
};

} // namespace dfc::ops
