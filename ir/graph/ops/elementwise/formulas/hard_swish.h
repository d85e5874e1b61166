// hardSwish(a): a clip(a/6 + 1/2, 0, 1), silu's likeness without an exponential (Howard et al. 2019; ONNX
// HardSwish). Exactly 0 up to -3 and exactly a from 3 on (6 times the rounded sixth is 1); of -infinity it is
// NaN, as the formula has it. At -3 and 3 the derivatives of the straight sides, 0 and 1.
#pragma once

#include "ir/graph/formula/formula_op.h"

namespace dfc::ops {

struct HardSwish : FormulaOp<1> {
  static constexpr std::string_view onnxName = "HardSwish";
  static constexpr std::array known = {Known{{-3}, 0}, Known{{1}, 0.66666666666666663}, Known{{5}, 5}};

  static constexpr S of(S a) { return a * (clip(a + 3, 0, 6) * (1 / 6.0L)); }
  static constexpr S derivative(S a, S /*result*/) {
    const S gate = clip(a + 3, 0, 6) * (1 / 6.0L);
    const auto bent = abs(a) < 3;
    const S rise = select(bent, a * (1 / 6.0L), 0);
    return gate + rise;
  }
};

} // namespace dfc::ops
