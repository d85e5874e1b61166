#include "ir/author/onnx/mappings/recurrent_layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace dfc::onnx {
namespace {

Activation activationNamed(const NodeCall& call, std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (name == "sigmoid") {
    return sigmoid;
  }
  if (name == "tanh") {
    return tanh;
  }
  if (name == "relu") {
    return relu;
  }
  call.refuse(fmt::format("the activation '{}'", name));
}

} // namespace

Layer::Layer(NodeCall& call, int64_t gates, std::initializer_list<std::string_view> activations)
    : call_(call), batchFirst_(call.integer("layout", 0) != 0), clip_(call.real("clip", 0)),
      perDirection_(activations.size()) {
  const std::string direction = call.choice("direction", {"forward", "reverse", "bidirectional"});
  directions_ = direction == "bidirectional" ? 2 : 1;
  reversed_ = direction == "reverse";
  const Dims x = dimsOf(call.operandOfRank(0, 3)), r = dimsOf(call.operandOfRank(2, 3));
  steps_ = x[batchFirst_ ? 1 : 0];
  batch_ = x[batchFirst_ ? 0 : 1];
  hidden_ = r[2];
  call.only("hidden_size", hidden_);
  if (x.size() != 3 || steps_ < 1 || hidden_ < 1) {
    call.refuse(fmt::format("an input of shape [{}] and a state of {}", fmt::join(x, ", "), hidden_));
  }
  part(1, 0, {gates * hidden_, x[2]});
  part(2, 0, {gates * hidden_, hidden_});
  readActivations(activations);
  const bool whole = !call.has(4) || (call.scope().state().known.isConstant(call.operand(4)) &&
                                      call.dims(4) == Dims(static_cast<size_t>(batch_), steps_));
  lengths_ = whole ? Tensor() : reshape(cast(call.operand(4), ElementType::I64), {batch_, 1});
  call.ignore(4);
}

void Layer::readActivations(std::initializer_list<std::string_view> usual) {
  std::vector<std::string> names;
  if (call_.hasAttribute("activations")) {
    names = call_.attribute("activations").texts;
  } else {
    for (int64_t i = 0; i < directions_; ++i) {
      names.insert(names.end(), usual.begin(), usual.end());
    }
  }
  if (names.size() != perDirection_ * static_cast<size_t>(directions_)) {
    call_.refuse(fmt::format("{} activations", names.size()));
  }
  for (const std::string& name : names) {
    activations_.push_back(activationNamed(call_, name));
  }
}

Tensor Layer::part(size_t index, int64_t direction, Dims dims) const {
  const Tensor all = call_.operand(index);
  Dims wanted = dims, starts(dims.size() + 1, 0);
  wanted.insert(wanted.begin(), directions_);
  if (dimsOf(all) != wanted) {
    call_.refuse(fmt::format("operand {} of shape {} instead of [{}]", index, toString(all.shape()),
                             fmt::join(wanted, ", ")));
  }
  starts[0] = direction;
  wanted[0] = direction + 1;
  return reshape(directions_ == 1 ? all : slice(all, starts, wanted), std::move(dims));
}

Tensor Layer::runsAt(int64_t step) const {
  return lengths_.valid() ? compare(lengths_, static_cast<double>(step), Direction::Gt) : Tensor();
}

OneWay::OneWay(const Layer& layer, int64_t direction, int64_t gates)
    : layer_(layer), direction_(direction), gates_(gates) {
  const NodeCall& call = layer.call();
  const int64_t wide = gates * layer.hidden(), features = layer.input().shape()[2];
  r_ = layer.part(2, direction, {wide, layer.hidden()});
  inputs_ = matmul(layer.input(), layer.part(1, direction, {wide, features}), {.b = true});
  recurrentBias_ = layer.call().scalar(inputs_, 0);
  if (call.has(3)) {
    const Tensor bias = layer.part(3, direction, {2 * wide});
    inputs_ = inputs_ + slice(bias, {0}, {wide});
    recurrentBias_ = slice(bias, {wide}, {2 * wide});
  }
}

Tensor OneWay::firstState(size_t index) const {
  const Dims dims{layer_.batch(), layer_.hidden()};
  NodeCall& call = layer_.call();
  if (!call.has(index)) {
    return broadcast(call.scalar(inputs_, 0), dims);
  }
  if (!layer_.batchFirst()) {
    return layer_.part(index, direction_, dims);
  }
  const Tensor all = call.operand(index);
  if (dimsOf(all) != Dims{dims[0], layer_.directions(), dims[1]}) {
    call.refuse(fmt::format("operand {} of shape {}", index, toString(all.shape())));
  }
  return reshape(slice(all, {0, direction_, 0}, {dims[0], direction_ + 1, dims[1]}), dims);
}

Tensor OneWay::fromInput(int64_t step) const {
  const int64_t wide = inputs_.shape()[2];
  return reshape(slice(inputs_, {step, 0, 0}, {step + 1, layer_.batch(), wide}), {layer_.batch(), wide});
}

Tensor OneWay::gate(Tensor all, int64_t gate) const {
  const int64_t hidden = layer_.hidden();
  return gates_ == 1 ? all : slice(all, {0, gate * hidden}, {layer_.batch(), (gate + 1) * hidden});
}

Tensor OneWay::fromState(Tensor h, int64_t gate) const {
  const int64_t hidden = layer_.hidden();
  const Tensor own = slice(r_, {gate * hidden, 0}, {(gate + 1) * hidden, hidden});
  const Tensor product = matmul(h, own, {.b = true});
  return recurrentBias_.shape().rank() == 0
             ? product
             : product + slice(recurrentBias_, {gate * hidden}, {(gate + 1) * hidden});
}

Tensor OneWay::peephole(int64_t gate) const {
  const int64_t hidden = layer_.hidden();
  return layer_.call().has(7)
             ? slice(layer_.part(7, direction_, {3 * hidden}), {gate * hidden}, {(gate + 1) * hidden})
             : layer_.call().scalar(inputs_, 0);
}

} // namespace dfc::onnx
