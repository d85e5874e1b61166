// Functions of the DSL that work element by element. Those of formula ops come from their headers by way of
// formula_functions.def, so that a new one is there without a line here.
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/op.h"

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using O = Operand;
using N = Numeric;

/// Of one operand, two, three.
template <class Function>
void unary(nb::module_& module, const char* name, Function function, const char* doc) {
  bindOp(module, name, function, "a"_a, doc);
}
template <class Function>
void binary(nb::module_& module, const char* name, Function function, const char* doc) {
  bindOp(module, name, function, "a"_a, "b"_a, doc);
}

void bindFormulas(nb::module_& module) {
#define DFC_FORMULA_FUNCTION_1(pythonName, name, a, doc)                                                     \
  bindOp(                                                                                                    \
      module, #pythonName, [](O x) { return name(x); }, nb::arg(#a), doc);
#define DFC_FORMULA_FUNCTION_2(pythonName, name, a, b, doc)                                                  \
  bindOp(                                                                                                    \
      module, #pythonName, [](N x, N y) { return name(x, y); }, nb::arg(#a), nb::arg(#b), doc);
#define DFC_FORMULA_FUNCTION_3(pythonName, name, a, b, c, doc)                                               \
  bindOp(                                                                                                    \
      module, #pythonName, [](N x, N y, N z) { return name(x, y, z); }, nb::arg(#a), nb::arg(#b),            \
      nb::arg(#c), doc);
#include "ir/author/formula_functions.def"
#undef DFC_FORMULA_FUNCTION_1
#undef DFC_FORMULA_FUNCTION_2
#undef DFC_FORMULA_FUNCTION_3
}

void bindOfOne(nb::module_& module) {
  unary(
      module, "absolute", [](O a) { return abs(a); },
      "Magnitude of numbers; that of the least integer wraps.");
  unary(
      module, "sign", [](O a) { return sign(a); },
      "-1, 0 or 1 of numbers; a zero keeps its sign, NaN stays.");
  unary(
      module, "floor", [](O a) { return floor(a); }, "The largest whole number not above a, of floats.");
  unary(
      module, "ceil", [](O a) { return ceil(a); }, "The smallest whole number not below a, of floats.");
  unary(
      module, "round", [](O a) { return round(a); },
      "The nearest whole number of floats, halves to the even one.");
  unary(
      module, "exp", [](O a) { return exp(a); }, "e to the power a, of floats.");
  unary(
      module, "log", [](O a) { return log(a); }, "The natural logarithm of floats.");
  unary(
      module, "log1p", [](O a) { return log1p(a); },
      "log(1 + a) of floats, with all digits where a is small.");
  unary(
      module, "expm1", [](O a) { return expm1(a); },
      "exp(a) - 1 of floats, with all digits where a is small.");
  unary(
      module, "sqrt", [](O a) { return sqrt(a); }, "The square root of floats.");
  unary(
      module, "sin", [](O a) { return sin(a); }, "The sine of floats, in radians.");
  unary(
      module, "cos", [](O a) { return cos(a); }, "The cosine of floats, in radians.");
  unary(
      module, "erf", [](O a) { return erf(a); }, "The error function of floats.");
  unary(
      module, "tanh", [](O a) { return tanh(a); }, "The hyperbolic tangent of floats.");
  unary(
      module, "relu", [](O a) { return relu(a); },
      "max(a, 0) of numbers; NaN stays; the derivative at 0 is 0.");
  unary(
      module, "negative", [](O a) { return -a; }, "-a of numbers.");
  unary(
      module, "invert", [](O a) { return ~a; }, "The opposite of bool; of integers every bit turned.");
  bindOp(
      module, "gelu",
      [](Operand a, bool approximate) {
        return gelu(a, approximate ? Approximation::Tanh : Approximation::None);
      },
      "a"_a, "approximate"_a = false,
      "a times the normal distribution function of a, of floats; with approximate=True by tanh (Hendrycks "
      "and "
      "Gimpel 2016).");
  bindOp(
      module, "astype", [](Operand a, ElementType dtype) { return cast(a, dtype); }, "a"_a, "dtype"_a,
      "a in another element type. Float to integer truncates and saturates, NaN gives 0; to bool: a != 0.");
}

void bindOfTwo(nb::module_& module) {
  binary(
      module, "add", [](N a, N b) { return a + b; }, "a + b of numbers, with broadcasting; integers wrap.");
  binary(
      module, "subtract", [](N a, N b) { return a - b; },
      "a - b of numbers, with broadcasting; integers wrap.");
  binary(
      module, "multiply", [](N a, N b) { return a * b; }, "a * b, element by element, with broadcasting.");
  binary(
      module, "divide", [](N a, N b) { return a / b; },
      "a / b, with broadcasting; integers truncate towards zero, a zero divisor gives 0.");
  binary(
      module, "maximum", [](N a, N b) { return max(a, b); },
      "The larger of two numbers, with broadcasting; NaN if either is NaN.");
  binary(
      module, "minimum", [](N a, N b) { return min(a, b); },
      "The smaller of two numbers, with broadcasting; NaN if either is NaN.");
  binary(
      module, "power", [](N a, N b) { return pow(a, b); },
      "a to the power b of floats, with broadcasting; edge cases as C's pow.");
  binary(
      module, "bitwise_and", [](N a, N b) { return a & b; }, "And of bool or, bit by bit, of integers.");
  binary(
      module, "bitwise_or", [](N a, N b) { return a | b; }, "Or of bool or, bit by bit, of integers.");
  binary(
      module, "bitwise_xor", [](N a, N b) { return a ^ b; },
      "Exclusive or of bool or, bit by bit, of integers.");
  const auto comparison = [&](const char* name, Direction direction, const char* doc) {
    binary(
        module, name, [direction](N a, N b) { return compare(a, b, direction); }, doc);
  };
  comparison("equal", Direction::Eq, "a == b as bool, with broadcasting; false with NaN.");
  comparison("not_equal", Direction::Ne, "a != b as bool, with broadcasting; true with NaN.");
  comparison("less", Direction::Lt, "a < b as bool, with broadcasting; false with NaN.");
  comparison("less_equal", Direction::Le, "a <= b as bool, with broadcasting; false with NaN.");
  comparison("greater", Direction::Gt, "a > b as bool, with broadcasting; false with NaN.");
  comparison("greater_equal", Direction::Ge, "a >= b as bool, with broadcasting; false with NaN.");
}

} // namespace

void bindElementwise(nb::module_& module) {
  bindOfOne(module);
  bindOfTwo(module);
  bindFormulas(module);
  bindOp(
      module, "where", [](O condition, N a, N b) { return select(condition, a, b); }, "condition"_a, "a"_a,
      "b"_a, "a where the bool condition holds, else b; all three broadcast.");
  bindOp(
      module, "clip", [](N a, N low, N high) { return clip(a, low, high); }, "a"_a, "low"_a, "high"_a,
      "min(max(a, low), high) of numbers, with broadcasting; NaN in any operand gives NaN.");
}

} // namespace dfc::python
