// rmsNorm(a, scale, axis=-1, epsilon=1e-5): a / sqrt(mean of a^2 + epsilon) * scale, the mean over `axis` and
// all after it; scale has the shape of those axes (Zhang and Sennrich 2019; ONNX RMSNormalization). Computed
// in f32, f64 for f64. Element type: a float; result=f16 and result=bf16 round the result of f32 operands to
// that type.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

#include <array>

namespace dfc::ops {

struct RmsNorm : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};
  int64_t axis = -1;
  double epsilon = 1e-5;
  NormResult result = NormResult::Unstated;
  static constexpr std::array<std::string_view, 3> resultNames = {"unstated", "f16", "bf16"};
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("epsilon", epsilon, Presence::Optional);
    auto chosen = static_cast<uint8_t>(result);
    visitor.choice("result", chosen, resultNames, Presence::Optional);
    result = static_cast<NormResult>(chosen);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
