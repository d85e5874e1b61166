// ONNX's recurrent layers in one direction, unrolled: a step is products, gates and the state that they give.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <algorithm>

namespace dfc::onnx {
namespace {

/// The operands of a recurrent node without the axis of directions; those of one that is left out are zeros.
class Layer {
 public:
  Layer(NodeCall& call, int64_t gates);
  bool batchFirst() const { return batchFirst_; }
  int64_t steps() const { return steps_; }
  /// The input of a step, [batch, features].
  Tensor at(int64_t step) const;
  /// A state before the first step, [batch, hidden].
  Tensor state(size_t index) const;
  /// What gate `gate` gets from the input, [batch, hidden].
  Tensor fromInput(Tensor x, int64_t gate) const;
  /// And from the state.
  Tensor fromState(Tensor h, int64_t gate) const { return recurrentProduct(h, gate) + bias(gates_ + gate); }
  /// What the state before a cell adds to a gate, elementwise (LSTM); [hidden].
  Tensor peephole(size_t index, int64_t gate) const { return vectorOf(index, gate, 3); }

 private:
  Tensor recurrentProduct(Tensor h, int64_t gate) const;
  Tensor bias(int64_t part) const { return vectorOf(3, part, 2 * gates_); }
  Tensor part(Tensor matrix, int64_t gate) const;
  Tensor vectorOf(size_t index, int64_t part, int64_t parts) const;
  NodeCall& call_;
  Tensor x_, w_, r_;
  int64_t gates_, steps_, batch_, hidden_;
  bool batchFirst_;
};

Tensor withoutFront(Tensor a) {
  return reshape(a, Dims(a.shape().dims().begin() + 1, a.shape().dims().end()));
}

NodeCall& understood(NodeCall& call) {
  call.choice("direction", {"forward"});
  call.only("hidden_size", call.operand(2).shape()[2]);
  return call;
}

Layer::Layer(NodeCall& call, int64_t gates)
    : call_(understood(call)), x_(call.operand(0)), w_(withoutFront(call.operand(1))),
      r_(withoutFront(call.operand(2))), gates_(gates), hidden_(r_.shape()[1]),
      batchFirst_(call.integer("layout", 0) != 0) {
  steps_ = x_.shape()[batchFirst_ ? 1 : 0];
  batch_ = x_.shape()[batchFirst_ ? 0 : 1];
  const Dims lengths = call.has(4) ? call.dims(4) : Dims{};
  if (std::any_of(lengths.begin(), lengths.end(), [&](int64_t length) { return length != steps_; })) {
    throw Unsupported("sequences of several lengths");
  }
}

Tensor Layer::at(int64_t step) const {
  const int64_t features = x_.shape()[2];
  const Tensor one = batchFirst_ ? slice(x_, {0, step, 0}, {batch_, step + 1, features})
                                 : slice(x_, {step, 0, 0}, {step + 1, batch_, features});
  return reshape(one, {batch_, features});
}

Tensor Layer::state(size_t index) const {
  return call_.has(index) ? reshape(call_.operand(index), {batch_, hidden_})
                          : broadcast(call_.scalar(x_, 0), {batch_, hidden_});
}

Tensor Layer::part(Tensor matrix, int64_t gate) const {
  return slice(matrix, {gate * hidden_, 0}, {(gate + 1) * hidden_, matrix.shape()[1]});
}

Tensor Layer::vectorOf(size_t index, int64_t part, int64_t parts) const {
  if (!call_.has(index)) {
    return call_.scalar(x_, 0);
  }
  return slice(reshape(call_.operand(index), {parts * hidden_}), {part * hidden_}, {(part + 1) * hidden_});
}

Tensor Layer::fromInput(Tensor x, int64_t gate) const {
  return matmul(x, part(w_, gate), {.b = true}) + bias(gate);
}

Tensor Layer::recurrentProduct(Tensor h, int64_t gate) const {
  return matmul(h, part(r_, gate), {.b = true});
}

// The states of all steps, [steps, 1, batch, hidden], and the last; the axis of the batch in front if the
// layout has it there.
NodeResults stacked(const Layer& layer, const std::vector<Tensor>& states) {
  const int64_t batch = states[0].shape()[0], hidden = states[0].shape()[1];
  std::vector<Tensor> parts;
  parts.reserve(states.size());
  for (const Tensor state : states) {
    parts.push_back(
        reshape(state, layer.batchFirst() ? Dims{batch, 1, 1, hidden} : Dims{1, 1, batch, hidden}));
  }
  const Tensor last =
      reshape(states.back(), layer.batchFirst() ? Dims{batch, 1, hidden} : Dims{1, batch, hidden});
  return {concat(parts, layer.batchFirst() ? 1 : 0), last};
}

NodeResults simple(NodeCall& call) {
  const Layer layer(call, 1);
  std::vector<Tensor> states{layer.state(5)};
  for (int64_t i = 0; i < layer.steps(); ++i) {
    states.push_back(tanh(layer.fromInput(layer.at(i), 0) + layer.fromState(states.back(), 0)));
  }
  return stacked(layer, {states.begin() + 1, states.end()});
}

// Gates update, reset, candidate.
Tensor gruStep(const Layer& layer, Tensor x, Tensor h, bool resetAfter) {
  const auto gate = [&](int64_t i) { return sigmoid(layer.fromInput(x, i) + layer.fromState(h, i)); };
  const Tensor update = gate(0), reset = gate(1);
  const Tensor past = resetAfter ? reset * layer.fromState(h, 2) : layer.fromState(reset * h, 2);
  return (1 - update) * tanh(layer.fromInput(x, 2) + past) + update * h;
}

NodeResults gated(NodeCall& call) {
  const Layer layer(call, 3);
  const bool resetAfter = call.integer("linear_before_reset", 0) != 0;
  std::vector<Tensor> states{layer.state(5)};
  for (int64_t i = 0; i < layer.steps(); ++i) {
    states.push_back(gruStep(layer, layer.at(i), states.back(), resetAfter));
  }
  return stacked(layer, {states.begin() + 1, states.end()});
}

// Gates input, output, forget, candidate; their peepholes stand in the same order.
NodeResults longShort(NodeCall& call) {
  call.only("input_forget", 0);
  const Layer layer(call, 4);
  Tensor cell = layer.state(6);
  std::vector<Tensor> states{layer.state(5)};
  for (int64_t i = 0; i < layer.steps(); ++i) {
    const Tensor x = layer.at(i), h = states.back();
    const auto sum = [&](int64_t gate) { return layer.fromInput(x, gate) + layer.fromState(h, gate); };
    const Tensor input = sigmoid(sum(0) + layer.peephole(7, 0) * cell);
    const Tensor forget = sigmoid(sum(2) + layer.peephole(7, 2) * cell);
    cell = forget * cell + input * tanh(sum(3));
    states.push_back(sigmoid(sum(1) + layer.peephole(7, 1) * cell) * tanh(cell));
  }
  NodeResults results = stacked(layer, {states.begin() + 1, states.end()});
  results.push_back(stacked(layer, {cell})[1]);
  return results;
}

} // namespace

MappingTable recurrentMappings() { return {{"GRU", gated}, {"LSTM", longShort}, {"RNN", simple}}; }

} // namespace dfc::onnx
