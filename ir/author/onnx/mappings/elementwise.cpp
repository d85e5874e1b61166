// ONNX's elementwise ops: one of ours where there is one, a short formula of ours otherwise. Formula ops that
// name their ONNX op need no row (mappings.cpp).
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/author/onnx/widened.h"
#include "ir/graph/graph.h"

#include <cmath>
#include <limits>

namespace dfc::onnx {
namespace {

// An op of one operand, by its function in the DSL.
template <Tensor (*function)(Operand)>
NodeResults unary(NodeCall& call) {
  return {function(call.operand(0))};
}

template <Tensor (*function)(Operand, Operand)>
NodeResults binary(NodeCall& call) {
  return {function(call.operand(0), call.operand(1))};
}

// Any number of operands, folded from the left.
template <Tensor (*function)(Operand, Operand)>
NodeResults variadic(NodeCall& call) {
  Tensor result = call.operand(0);
  call.spend(static_cast<int64_t>(call.operands()));
  for (size_t i = 1; i < call.operands(); ++i) {
    result = function(result, call.operand(i));
  }
  return {result};
}

template <Direction direction>
NodeResults comparison(NodeCall& call) {
  return {compare(call.operand(0), call.operand(1), direction)};
}

Tensor plus(Operand a, Operand b) { return a + b; }
Tensor minus(Operand a, Operand b) { return a - b; }
Tensor times(Operand a, Operand b) { return a * b; }
Tensor over(Operand a, Operand b) { return a / b; }
Tensor both(Operand a, Operand b) { return a & b; }
Tensor either(Operand a, Operand b) { return a | b; }
Tensor one(Operand a, Operand b) { return a ^ b; }
Tensor opposite(Operand a) { return ~a; }
Tensor negative(Operand a) { return -a; }
Tensor same(Operand a) { return *a.tensor(); }
Tensor sinh(Operand a) { return 0.5 * (exp(a) - exp(-a)); }
Tensor cosh(Operand a) { return 0.5 * (exp(a) + exp(-a)); }
Tensor tan(Operand a) { return sin(a) / cos(a); }
// The sign apart, as the sum below cancels left of 0.
Tensor asinh(Operand a) { return sign(a) * log(abs(a) + sqrt(a * a + 1)); }
Tensor acosh(Operand a) { return log(a + sqrt(a * a - 1)); }
Tensor atanh(Operand a) { return 0.5 * log((1 + a) / (1 - a)); }
Tensor isNan(Operand a) { return compare(a, a, Direction::Ne); }

NodeResults mean(NodeCall& call) { return {variadic<plus>(call)[0] / static_cast<double>(call.operands())}; }

NodeResults power(NodeCall& call) {
  const Tensor base = call.operand(0), exponent = call.operand(1);
  const ElementType element = base.type().element;
  const ElementType inside = isFloat(element) ? element : ElementType::F64;
  return {cast(pow(cast(base, inside), cast(exponent, inside)), element)};
}

NodeResults modulo(NodeCall& call) {
  const Tensor a = call.operand(0), b = call.operand(1);
  const bool truncates = call.integer("fmod", 0) != 0;
  if (isFloat(a.type().element)) { // fmod: the sign of the dividend
    if (!truncates) {
      call.refuse("fmod = 0 of floats");
    }
    const Tensor quotient = a / b;
    const Tensor whole = select(compare(quotient, 0, Direction::Lt), ceil(quotient), floor(quotient));
    return {a - whole * b};
  }
  const Tensor rest = a - a / b * b; // as C has it
  if (truncates) {
    return {rest};
  }
  const Tensor turn =
      compare(rest, 0, Direction::Ne) & (compare(rest, 0, Direction::Lt) ^ compare(b, 0, Direction::Lt));
  return {select(turn, rest + b, rest)};
}

NodeResults clipped(NodeCall& call) {
  Tensor a = call.operand(0);
  const bool attributes = call.opset() < 11;
  if (attributes ? call.hasAttribute("min") : call.has(1)) {
    a = max(a, attributes ? call.scalar(a, call.real("min", 0)) : call.operand(1));
  }
  if (attributes ? call.hasAttribute("max") : call.has(2)) {
    a = min(a, attributes ? call.scalar(a, call.real("max", 0)) : call.operand(2));
  }
  if (call.has(1) && call.has(2)) {
    return {clip(call.operand(0), call.operand(1), call.operand(2))};
  }
  return {a};
}

NodeResults where(NodeCall& call) { return {select(call.operand(0), call.operand(1), call.operand(2))}; }
NodeResults isInfinite(NodeCall& call) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor a = call.operand(0);
  const Tensor above = compare(a, infinity, Direction::Eq), below = compare(a, -infinity, Direction::Eq);
  const bool positive = call.integer("detect_positive", 1) != 0;
  const bool negative = call.integer("detect_negative", 1) != 0;
  return {positive && negative ? above | below : positive ? above : below};
}

// Both attributes are about 8-bit floats, which no tensor of ours has.
void ignoreSmallFloats(NodeCall& call) {
  call.ignore("saturate");
  call.ignore("round_mode");
}

Tensor castAs(NodeCall& call, Tensor a, int64_t element) {
  const ElementType to = elementOfOnnx(element);
  const Tensor narrow =
      isWidened(element) && element != element::u64 ? narrowed(cast(a, ElementType::I64), element) : a;
  return call.ofElement(cast(narrow, to), element);
}

NodeResults castTo(NodeCall& call) {
  ignoreSmallFloats(call);
  return {castAs(call, call.operand(0), call.integer("to", 0))};
}

NodeResults castLike(NodeCall& call) {
  ignoreSmallFloats(call);
  return {castAs(call, call.operand(0), call.elementOf(call.operand(1)))};
}

// Dropout at inference is the identity; which elements a training step drops is the framework's own dice.
NodeResults inferenceDropout(NodeCall& call) {
  call.ignore("seed");
  call.ignore("ratio"); // the attribute before opset 12, whose nodes infer
  call.ignore(1);       // the operand since
  const bool training = call.has(2) && call.number(2) != 0;
  const bool drops = !call.has(1) || call.number(1) != 0;
  if (training && drops) {
    throw Unsupported("random numbers of another generator");
  }
  NodeResults results{call.operand(0)};
  if (call.wants(1)) {
    results.push_back(
        broadcast(compare(call.scalar(call.operand(0), 0), 0, Direction::Eq),
                  Dims(call.operand(0).shape().dims().begin(), call.operand(0).shape().dims().end())));
  }
  return results;
}

} // namespace

MappingTable elementwiseMappings() {
  return {{"Abs", unary<abs>},
          {"Acosh", unary<acosh>},
          {"Add", binary<plus>},
          {"And", binary<both>},
          {"Asinh", unary<asinh>},
          {"Atanh", unary<atanh>},
          {"Cast", castTo},
          {"CastLike", castLike},
          {"Ceil", unary<ceil>},
          {"Clip", clipped},
          {"Cos", unary<cos>},
          {"Cosh", unary<cosh>},
          {"Div", binary<over>},
          {"Dropout", inferenceDropout},
          {"Equal", comparison<Direction::Eq>},
          {"Erf", unary<erf>},
          {"Exp", unary<exp>},
          {"Floor", unary<floor>},
          {"Greater", comparison<Direction::Gt>},
          {"GreaterOrEqual", comparison<Direction::Ge>},
          {"Identity", unary<same>},
          {"IsInf", isInfinite},
          {"IsNaN", unary<isNan>},
          {"Less", comparison<Direction::Lt>},
          {"LessOrEqual", comparison<Direction::Le>},
          {"Log", unary<log>},
          {"Max", variadic<max>},
          {"Mean", mean},
          {"Min", variadic<min>},
          {"Mod", modulo},
          {"Mul", binary<times>},
          {"Neg", unary<negative>},
          {"Not", unary<opposite>},
          {"Or", binary<either>},
          {"Pow", power},
          {"Round", unary<round>},
          {"Sign", unary<sign>},
          {"Sin", unary<sin>},
          {"Sinh", unary<sinh>},
          {"Sqrt", unary<sqrt>},
          {"Sub", binary<minus>},
          {"Sum", variadic<plus>},
          {"Tan", unary<tan>},
          {"Tanh", unary<tanh>},
          {"Where", where},
          {"Xor", binary<one>}};
}

} // namespace dfc::onnx
