// reciprocal(a): 1 / a (ONNX Reciprocal). Exact: one quotient.
#pragma once

#include "ir/graph/formula/formula_op.h"

namespace dfc::ops {

struct Reciprocal : FormulaOp<1> {
  static constexpr std::string_view onnxName = "Reciprocal";
  static constexpr bool exact = true;
  static constexpr std::array known = {Known{{-4}, -0.25}, Known{{0.5}, 2}};

  static constexpr S of(S a) { return 1 / a; }
  static constexpr S derivative(S /*a*/, S result) { return -(result * result); }
};

} // namespace dfc::ops
