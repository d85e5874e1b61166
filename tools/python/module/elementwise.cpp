// Functions of the DSL that work element by element. Those of formula ops come from their headers by way of
// formula_functions.def, so that a new one is there without a line here.
#include "ir/author/dsl.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/values.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using O = const Operand&;

void bindFormulas(nb::module_& module) {
#define DFC_FORMULA_FUNCTION_1(pythonName, name, a, doc)                                                     \
  bindUnary(                                                                                                 \
      module, #pythonName, [](O x) { return name(x); }, doc);
#define DFC_FORMULA_FUNCTION_2(pythonName, name, a, b, doc)                                                  \
  bindBinary(                                                                                                \
      module, #pythonName, #a, #b, [](O x, O y) { return name(x, y); }, doc);
#define DFC_FORMULA_FUNCTION_3(pythonName, name, a, b, c, doc)                                               \
  bindTernary(                                                                                               \
      module, #pythonName, #a, #b, #c, [](O x, O y, O z) { return name(x, y, z); }, doc);
#include "ir/author/formula_functions.def"
#undef DFC_FORMULA_FUNCTION_1
#undef DFC_FORMULA_FUNCTION_2
#undef DFC_FORMULA_FUNCTION_3
}

void bindOfOne(nb::module_& module) {
  bindUnary(
      module, "absolute", [](O a) { return abs(a); },
      "Magnitude of numbers; that of the least integer wraps.");
  bindUnary(
      module, "sign", [](O a) { return sign(a); },
      "-1, 0 or 1 of numbers; a zero keeps its sign, NaN stays.");
  bindUnary(
      module, "floor", [](O a) { return floor(a); }, "The largest whole number not above a, of floats.");
  bindUnary(
      module, "ceil", [](O a) { return ceil(a); }, "The smallest whole number not below a, of floats.");
  bindUnary(
      module, "round", [](O a) { return round(a); },
      "The nearest whole number of floats, halves to the even one.");
  bindUnary(
      module, "exp", [](O a) { return exp(a); }, "e to the power a, of floats.");
  bindUnary(
      module, "log", [](O a) { return log(a); }, "The natural logarithm of floats.");
  bindUnary(
      module, "sqrt", [](O a) { return sqrt(a); }, "The square root of floats.");
  bindUnary(
      module, "sin", [](O a) { return sin(a); }, "The sine of floats, in radians.");
  bindUnary(
      module, "cos", [](O a) { return cos(a); }, "The cosine of floats, in radians.");
  bindUnary(
      module, "erf", [](O a) { return erf(a); }, "The error function of floats.");
  bindUnary(
      module, "tanh", [](O a) { return tanh(a); }, "The hyperbolic tangent of floats.");
  bindUnary(
      module, "relu", [](O a) { return relu(a); },
      "max(a, 0) of numbers; NaN stays; the derivative at 0 is 0.");
  bindUnary(
      module, "negative", [](O a) { return -a; }, "-a of numbers.");
  bindUnary(
      module, "invert", [](O a) { return ~a; }, "The opposite of bool; of integers every bit turned.");
  module.def(
      "gelu",
      [](const Arg& a, bool approximate) {
        Call call(writerOf("gelu", {&a}));
        return call.value(gelu(call.operand(a), approximate ? Approximation::Tanh : Approximation::None));
      },
      "a"_a, "approximate"_a = false,
      "a times the normal distribution function of a, of floats; with approximate=True by tanh (Hendrycks "
      "and "
      "Gimpel 2016).");
  module.def(
      "astype",
      [](const Arg& a, const DTypeLike& dtype) {
        Call call(writerOf("astype", {&a}));
        return call.value(cast(call.operand(a), elementTypeOf(dtype)));
      },
      "a"_a, "dtype"_a,
      "a in another element type. Float to integer truncates and saturates, NaN gives 0; to bool: a != 0.");
}

void bindOfTwo(nb::module_& module) {
  const auto binary = [&](const char* name, auto function, const char* doc) {
    bindBinary(module, name, "a", "b", function, doc);
  };
  binary(
      "add", [](O a, O b) { return a + b; }, "a + b of numbers, with broadcasting; integers wrap.");
  binary(
      "subtract", [](O a, O b) { return a - b; }, "a - b of numbers, with broadcasting; integers wrap.");
  binary(
      "multiply", [](O a, O b) { return a * b; }, "a * b, element by element, with broadcasting.");
  binary(
      "divide", [](O a, O b) { return a / b; },
      "a / b, with broadcasting; integers truncate towards zero, a zero divisor gives 0.");
  binary(
      "maximum", [](O a, O b) { return max(a, b); },
      "The larger of two numbers, with broadcasting; NaN if either is NaN.");
  binary(
      "minimum", [](O a, O b) { return min(a, b); },
      "The smaller of two numbers, with broadcasting; NaN if either is NaN.");
  binary(
      "power", [](O a, O b) { return pow(a, b); },
      "a to the power b of floats, with broadcasting; edge cases as C's pow.");
  binary(
      "bitwise_and", [](O a, O b) { return a & b; }, "And of bool or, bit by bit, of integers.");
  binary(
      "bitwise_or", [](O a, O b) { return a | b; }, "Or of bool or, bit by bit, of integers.");
  binary(
      "bitwise_xor", [](O a, O b) { return a ^ b; }, "Exclusive or of bool or, bit by bit, of integers.");
  const auto comparison = [&](const char* name, Direction direction, const char* doc) {
    binary(
        name, [direction](O a, O b) { return compare(a, b, direction); }, doc);
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
  bindTernary(
      module, "where", "condition", "a", "b", [](O condition, O a, O b) { return select(condition, a, b); },
      "a where the bool condition holds, else b; all three broadcast.");
  bindTernary(
      module, "clip", "a", "low", "high", [](O a, O low, O high) { return clip(a, low, high); },
      "min(max(a, low), high) of numbers, with broadcasting; NaN in any operand gives NaN.");
}

} // namespace dfc::python
