// leakyRelu(a, slope): a where a >= 0, slope times a below, with broadcasting: one slope for all, or one for
// each channel (ONNX LeakyRelu and PRelu). At 0 the derivative of the upper side.
#pragma once

#include "ir/graph/formula/formula_op.h"

namespace dfc::ops {

struct LeakyRelu : FormulaOp<2> {
  static constexpr std::array known = {Known{{-4, 0.5}, -2}, Known{{0, 0.5}, 0}, Known{{4, 0.5}, 4}};

  static constexpr S of(S a, S slope) { return select(a >= 0, a, a * slope); }
  static constexpr std::array<S, 2> derivatives(S a, S slope, S /*result*/) {
    const auto below = a < 0;
    return {select(below, slope, 1), select(below, a, 0)};
  }
};

} // namespace dfc::ops
