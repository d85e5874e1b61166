// ONNX's activations. Formula ops that name their ONNX op need no row (mappings.cpp).
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

namespace dfc::onnx {
namespace {

template <Tensor (*function)(Operand)>
NodeResults unary(NodeCall& call) {
  return {function(call.operand(0))};
}

Tensor softsign(Operand a) { return a / (1 + abs(a)); }

// Below zero `below`, else the operand.
Tensor elbow(Tensor a, Tensor below) { return select(compare(a, 0, Direction::Lt), below, a); }

NodeResults leaky(NodeCall& call) { return {leakyRelu(call.operand(0), call.real("alpha", 0.01))}; }

NodeResults elu(NodeCall& call) {
  const Tensor a = call.operand(0);
  return {elbow(a, call.real("alpha", 1) * (exp(a) - 1))};
}

NodeResults selu(NodeCall& call) {
  const Tensor a = call.operand(0);
  const double alpha = call.real("alpha", 1.67326319217681884765625);
  return {call.real("gamma", 1.05070102214813232421875) *
          select(compare(a, 0, Direction::Le), alpha * (exp(a) - 1), a)};
}

NodeResults celu(NodeCall& call) {
  const Tensor a = call.operand(0);
  const double alpha = call.real("alpha", 1);
  return {max(a, 0) + min(alpha * (exp(a / alpha) - 1), 0)};
}

NodeResults hardSigmoid(NodeCall& call) {
  return {clip(call.real("alpha", 0.2) * call.operand(0) + call.real("beta", 0.5), 0, 1)};
}

NodeResults thresholded(NodeCall& call) {
  const Tensor a = call.operand(0);
  return {select(compare(a, call.real("alpha", 1), Direction::Gt), a, 0)};
}

NodeResults shrink(NodeCall& call) {
  const Tensor a = call.operand(0);
  const double bias = call.real("bias", 0), bound = call.real("lambd", 0.5);
  return {select(compare(a, -bound, Direction::Lt), a + bias,
                 select(compare(a, bound, Direction::Gt), a - bias, 0 * a))};
}

NodeResults swish(NodeCall& call) {
  const Tensor a = call.operand(0);
  const double alpha = call.real("alpha", 1);
  return {alpha == 1 ? silu(a) : a * sigmoid(alpha * a)};
}

// Before opset 7 a slope for each channel stands without the axes behind axis 1.
NodeResults parametric(NodeCall& call) {
  const Tensor a = call.operand(0);
  Tensor slope = call.operand(1);
  if (call.opset() < 7 && slope.shape().rank() == 1 && a.shape().rank() > 2) {
    Dims channel(a.shape().rank() - 1, 1);
    channel[0] = slope.shape()[0];
    slope = reshape(slope, channel);
  }
  return {leakyRelu(a, slope)};
}

NodeResults geluForm(NodeCall& call) {
  return {gelu(call.operand(0), call.choice("approximate", {"none", "tanh"}) == "tanh"
                                    ? Approximation::Tanh
                                    : Approximation::None)};
}

} // namespace

MappingTable activationMappings() {
  return {{"Celu", celu},        {"Elu", elu},
          {"Gelu", geluForm},    {"HardSigmoid", hardSigmoid},
          {"LeakyRelu", leaky},  {"PRelu", parametric},
          {"Relu", unary<relu>}, {"Selu", selu},
          {"Shrink", shrink},    {"Softsign", unary<softsign>},
          {"Swish", swish},      {"ThresholdedRelu", thresholded}};
}

} // namespace dfc::onnx
