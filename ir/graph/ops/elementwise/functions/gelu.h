// gelu(a, approximate=none): a times the normal distribution's share below a: a (1 + erf(a / sqrt(2))) / 2,
// or with approximate=tanh a (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3))) / 2 (Hendrycks and Gimpel 2016; ONNX
// Gelu). Element type: a float.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Gelu : OpDefaults {
  using Approximation = dfc::Approximation;
  static constexpr std::array<std::string_view, 2> approximationNames = {"none", "tanh"};
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};
  Approximation approximate = Approximation::None;
  void fields(AttributeVisitor& visitor);

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
