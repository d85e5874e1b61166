// rsqrt(a): 1 / sqrt(a), rounded as the two are (StableHLO rsqrt).
#pragma once

#include "ir/graph/formula/formula_op.h"

namespace dfc::ops {

struct Rsqrt : FormulaOp<1> {
  static constexpr SampleRange samples{0, 9};
  static constexpr std::array known = {Known{{0.25}, 2}, Known{{16}, 0.25}};

  static constexpr S of(S a) { return 1 / sqrt(a); }
  static constexpr S derivative(S a, S result) { return -0.5L * (result / a); }
};

} // namespace dfc::ops
