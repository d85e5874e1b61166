// The inverse functions of sine, cosine and tangent, which dfc has no ops for: the angle is halved until a
// few terms of its series (Gregory's) are exact to the last place of a float.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <numbers>

namespace dfc::onnx {
namespace {

// Of 0 to 1: tan(angle / 2) = t / (1 + sqrt(1 + t^2)), twice, leaves at most tan(pi / 16) = 0.199.
Tensor arcOfSmall(Tensor a) {
  for (int halving = 0; halving < 2; ++halving) {
    a = a / (1 + sqrt(1 + a * a));
  }
  const Tensor square = a * a;
  Tensor series = square * (-1.0 / 15) + 1.0 / 13;
  for (int odd = 11; odd >= 1; odd -= 2) {
    series = series * square;
    const double term = 1.0 / odd;
    series = odd % 4 == 1 ? series + term : series - term;
  }
  return 4 * a * series;
}

// Beyond 1 the angle is a right one less that of the inverse.
Tensor arcTangent(Tensor a) {
  const Tensor size = abs(a), beyond = compare(size, 1, Direction::Gt);
  const Tensor angle = arcOfSmall(select(beyond, 1 / size, size));
  return sign(a) * select(beyond, std::numbers::pi / 2 - angle, angle);
}

Tensor arcSine(Tensor a) { return 2 * arcTangent(a / (1 + sqrt((1 - a) * (1 + a)))); }

NodeResults tangent(NodeCall& call) { return {arcTangent(call.operand(0))}; }
NodeResults sine(NodeCall& call) { return {arcSine(call.operand(0))}; }
NodeResults cosine(NodeCall& call) { return {std::numbers::pi / 2 - arcSine(call.operand(0))}; }

} // namespace

MappingTable trigonometricMappings() { return {{"Acos", cosine}, {"Asin", sine}, {"Atan", tangent}}; }

} // namespace dfc::onnx
