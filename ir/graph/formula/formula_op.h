// What a formula op derives from. Such an op is one header in ops/elementwise/formulas/ and one row in
// ops.def; see ops/README.md. Its struct has a scalar body `of`, and may have:
//   onnxName   the ONNX op that it is where that has no attributes
//   samples    the range that tests draw its operands from
//   known      arguments and results that are known from elsewhere than the body
//   derivative (of one operand) or derivatives (of several): from the operands and the result; without it the
//              derivative follows from the body by automatic differentiation
#pragma once

#include "ir/graph/formula/term.h"
#include "ir/graph/op_parts.h"

#include <array>
#include <concepts>

namespace dfc {

/// Bounds that tests draw operands from.
struct SampleRange {
  double low, high;
};

/// A value of a formula, to within a unit of f64's last place or two.
template <size_t operands>
struct KnownValue {
  std::array<double, operands> arguments;
  double result;
  uint8_t variant = 0;
};

/// An elementwise op of floats with broadcasting, whose meaning is its body. With several variants (gelu's
/// two forms) the body is a template over the variant's number, and the op has `variant` and `setVariant`.
template <size_t operands, size_t variants = 1>
struct FormulaOp : OpDefaults {
  using S = formula::Term;
  using Known = KnownValue<operands>;
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{operands, operands};
  static constexpr size_t variantCount = variants;
  static constexpr std::string_view onnxName = "";
  static constexpr SampleRange samples{-9, 9};
  static constexpr std::array<Known, 0> known{};
  uint8_t variant() const { return 0; }
  void setVariant(uint8_t /*variant*/) {}
  SplitRule split(OperandTypes types, OperandTypes results) const { return elementwiseSplit(types, results); }
};

template <class Op>
concept FormulaStruct = requires {
  { Op::variantCount } -> std::convertible_to<size_t>;
};

namespace formula {

namespace detail {

template <size_t count, class Body>
constexpr Program recorded(Body body) {
  Program program;
  const auto results = [&]<size_t... i>(std::index_sequence<i...>) {
    return body(
        Term(program, program.append({Primitive::Argument, 0, static_cast<uint8_t>(i), 0, {}, 0}))...);
  }
  (std::make_index_sequence<count>());
  for (const Term& result : results) {
    program.addResult(result.in(program));
  }
  return program;
}

} // namespace detail

/// The body of a formula op.
template <FormulaStruct Op, uint8_t variant = 0>
inline constexpr Program bodyOf = detail::recorded<Op::arity.most>([](auto... a) {
  if constexpr (Op::variantCount > 1) {
    return std::array{Op::template of<variant>(a...)};
  } else {
    return std::array{Op::of(a...)};
  }
});

template <class Op, uint8_t variant>
concept StatesDerivative = requires(Term a) {
  Op::derivative(a, a);
}
|| requires(Term a) { Op::template derivative<variant>(a, a); }
|| requires(Term a) { Op::derivatives(a, a, a); };

/// The derivative by each operand, as the op states it: a program of the operands and, last, the result.
template <FormulaStruct Op, uint8_t variant = 0>
requires StatesDerivative<Op, variant>
inline constexpr Program statedDerivativesOf = detail::recorded<Op::arity.most + 1>([](auto... a) {
  if constexpr (Op::arity.most > 1) {
    return Op::derivatives(a...);
  } else if constexpr (Op::variantCount > 1) {
    return std::array{Op::template derivative<variant>(a...)};
  } else {
    return std::array{Op::derivative(a...)};
  }
});

} // namespace formula
} // namespace dfc
