// silu(a): a sigmoid(a), also called swish (Elfwing, Uchibe and Doya 2018; ONNX Swish). Where exp(a) is
// subnormal it has fewer bits, and so has the result: |a| units of them.
#pragma once

#include "ir/graph/ops/elementwise/formulas/sigmoid.h"

namespace dfc::ops {

struct Silu : FormulaOp<1> {
  static constexpr std::array known = {Known{{0}, 0},
                                       Known{{1.0986122886681098}, 0.82395921650108235}}; // log 3: 3/4 of it

  static constexpr S of(S a) { return Sigmoid::logistic(a, a); }
  static constexpr S derivative(S a, S /*result*/) {
    const S s = sigmoid(a), bend = s * (1 - s);
    return s + a * bend;
  }
};

} // namespace dfc::ops
