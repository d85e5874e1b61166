// Steps of optimisers as ONNX's training preview has them: a node takes the rate, the count of updates, then
// the parameters, their gradients and their moments, each kind in one row, and gives the new parameters and
// moments.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

namespace dfc::onnx {
namespace {

constexpr double defaultEpsilon = 1e-6;

double required(NodeCall& call, const char* attribute) {
  if (!call.hasAttribute(attribute)) {
    call.refuse(fmt::format("no attribute '{}'", attribute));
  }
  return call.real(attribute, 0);
}

/// What a node says of one parameter.
struct Update {
  Tensor x, gradient; ///< with the decay of the parameter's norm
  Tensor rate, count; ///< of the parameter's element type
  std::vector<Tensor> moments;
};

/// The new parameter, then its moments.
using Rule = std::vector<Tensor> (*)(NodeCall&, const Update&);

Update updateAt(NodeCall& call, size_t i, size_t parameters, size_t moments) {
  Update one;
  one.x = call.operand(2 + i);
  one.gradient = call.operand(2 + parameters + i) + one.x * call.real("norm_coefficient", 0);
  one.rate = cast(call.operand(0), one.x.type().element);
  one.count = cast(call.operand(1), one.x.type().element);
  for (size_t moment = 0; moment < moments; ++moment) {
    one.moments.push_back(call.operand(2 + (2 + moment) * parameters + i));
  }
  return one;
}

NodeResults updated(NodeCall& call, size_t moments, Rule rule) {
  const size_t each = 2 + moments;
  if (call.operands() < 2 + each || (call.operands() - 2) % each != 0) {
    call.refuse(fmt::format("{} operands", call.operands()));
  }
  const size_t parameters = (call.operands() - 2) / each;
  NodeResults results((1 + moments) * parameters);
  for (size_t i = 0; i < parameters; ++i) {
    const std::vector<Tensor> found = rule(call, updateAt(call, i, parameters, moments));
    for (size_t kind = 0; kind < found.size(); ++kind) {
      results[kind * parameters + i] = found[kind];
    }
  }
  return results;
}

std::vector<Tensor> adagradRule(NodeCall& call, const Update& one) {
  const Tensor rate = one.rate / (one.count * call.real("decay_factor", 0) + 1);
  const Tensor squares = one.moments[0] + one.gradient * one.gradient;
  return {one.x - rate * one.gradient / (sqrt(squares) + call.real("epsilon", defaultEpsilon)), squares};
}

std::vector<Tensor> adamRule(NodeCall& call, const Update& one) {
  const double alpha = call.real("alpha", 0.9), beta = call.real("beta", 0.999);
  const Tensor mean = one.moments[0] * alpha + one.gradient * (1 - alpha);
  const Tensor square = one.moments[1] * beta + one.gradient * one.gradient * (1 - beta);
  const auto power = [&](double base) { return pow(call.scalar(one.x, base), one.count); };
  const Tensor corrected = one.rate * sqrt(1 - power(beta)) / (1 - power(alpha));
  const Tensor rate = select(compare(one.count, 0, Direction::Gt), corrected, one.rate);
  const Tensor x = one.x - rate * mean / (sqrt(square) + call.real("epsilon", defaultEpsilon));
  return {x * (1 - call.real("norm_coefficient_post", 0)), mean, square};
}

std::vector<Tensor> momentumRule(NodeCall& call, const Update& one) {
  const bool nesterov = call.choice("mode", {"standard", "nesterov"}) == "nesterov";
  const double alpha = required(call, "alpha");
  const Tensor weight =
      select(compare(one.count, 0, Direction::Gt), call.scalar(one.x, required(call, "beta")), 1);
  const Tensor moment = one.moments[0] * alpha + weight * one.gradient;
  return {one.x - one.rate * (nesterov ? one.gradient + moment * alpha : moment), moment};
}

NodeResults adagrad(NodeCall& call) { return updated(call, 1, adagradRule); }
NodeResults adam(NodeCall& call) { return updated(call, 2, adamRule); }
NodeResults momentum(NodeCall& call) { return updated(call, 1, momentumRule); }

} // namespace

MappingTable trainingMappings() {
  return {{"ai.onnx.preview.training::Adagrad", adagrad},
          {"ai.onnx.preview.training::Adam", adam},
          {"ai.onnx.preview.training::Momentum", momentum}};
}

} // namespace dfc::onnx
