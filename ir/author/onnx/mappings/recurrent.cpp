// ONNX's recurrent layers, unrolled: what the gates get from the input is one product for all steps, a step
// is a product with the state, gates, and the state that they give. Of sequences of several lengths a step
// behind the end of one keeps its state and gives zeros.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

using Activation = Tensor (*)(Operand);

/// What a node says of all its directions. Its operands: x, w, r, b, lengths, the first states, …
class Layer {
 public:
  Layer(NodeCall& call, int64_t gates, std::initializer_list<std::string_view> activations);
  NodeCall& call() const { return call_; }
  int64_t directions() const { return directions_; }
  int64_t steps() const { return steps_; }
  int64_t batch() const { return batch_; }
  int64_t hidden() const { return hidden_; }
  bool batchFirst() const { return batchFirst_; }
  bool isReversed(int64_t direction) const { return direction == 1 || reversed_; }
  /// x, [steps, batch, features].
  Tensor input() const { return batchFirst_ ? transpose(call_.operand(0), {1, 0, 2}) : call_.operand(0); }
  /// The part of an operand of `dims` that belongs to a direction; refuses other dimensions.
  Tensor part(size_t index, int64_t direction, Dims dims) const;
  /// Where a sequence of the batch has a step of this number, [batch, 1]; empty: they all do.
  Tensor runsAt(int64_t step) const;
  /// An activation of a direction, of the operand between the bounds that the node gives.
  Tensor activated(int64_t direction, size_t which, Tensor a) const {
    return activations_[static_cast<size_t>(direction) * perDirection_ + which](bounded(a));
  }
  Tensor bounded(Tensor a) const { return clip_ > 0 ? clip(a, -clip_, clip_) : a; }

 private:
  void readActivations(std::initializer_list<std::string_view> usual);
  NodeCall& call_;
  int64_t directions_ = 1, steps_ = 0, batch_ = 0, hidden_ = 0;
  bool batchFirst_, reversed_ = false;
  double clip_;
  size_t perDirection_;
  std::vector<Activation> activations_;
  Tensor lengths_;
};

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

/// One direction: its weights, and what its gates get from the input.
class OneWay {
 public:
  OneWay(const Layer& layer, int64_t direction, int64_t gates);
  /// A state before the first step, [batch, hidden].
  Tensor firstState(size_t index) const;
  /// What all gates get from the input of a step and from a state, each [batch, gates * hidden].
  Tensor fromInput(int64_t step) const;
  Tensor fromState(Tensor h) const { return matmul(h, r_, {.b = true}) + recurrentBias_; }
  /// The same of one gate.
  Tensor fromState(Tensor h, int64_t gate) const;
  Tensor gate(Tensor all, int64_t gate) const;
  /// What the state before a cell adds to a gate, elementwise (LSTM); [hidden].
  Tensor peephole(int64_t gate) const;
  Tensor activated(size_t which, Tensor a) const { return layer_.activated(direction_, which, a); }
  const Layer& layer() const { return layer_; }
  /// The number of the step that comes at this turn.
  int64_t stepAt(int64_t turn) const {
    return layer_.isReversed(direction_) ? layer_.steps() - 1 - turn : turn;
  }

 private:
  const Layer& layer_;
  int64_t direction_, gates_;
  Tensor r_, inputs_, recurrentBias_;
};

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

/// The states after all steps, in the order of the steps, and the last ones.
struct Run {
  std::vector<Tensor> outputs, last;
};

// Runs a direction. `cell` gives the states behind a step from what the gates get from its input and from the
// states before; the first of them is the output.
template <class Cell>
Run runOf(const OneWay& way, std::vector<Tensor> states, Cell cell) {
  const Layer& layer = way.layer();
  Run run;
  for (int64_t turn = 0; turn < layer.steps(); ++turn) {
    layer.call().spend(64); // ops of a step, about
    const int64_t step = way.stepAt(turn);
    std::vector<Tensor> next = cell(way.fromInput(step), states);
    const Tensor runs = layer.runsAt(step);
    run.outputs.push_back(runs.valid() ? select(runs, next[0], 0) : next[0]);
    for (size_t i = 0; i < states.size(); ++i) {
      states[i] = runs.valid() ? select(runs, next[i], states[i]) : next[i];
    }
  }
  if (way.stepAt(0) != 0) {
    std::reverse(run.outputs.begin(), run.outputs.end());
  }
  run.last = states;
  return run;
}

// All outputs, [steps, directions, batch, hidden], and of each state the last, [directions, batch, hidden];
// the axis of the batch in front if the layout has it there.
NodeResults stacked(const Layer& layer, const std::vector<Run>& runs) {
  const int64_t batch = layer.batch(), hidden = layer.hidden();
  const bool front = layer.batchFirst();
  std::vector<Tensor> ofDirections;
  for (const Run& run : runs) {
    std::vector<Tensor> steps;
    for (const Tensor output : run.outputs) {
      steps.push_back(reshape(output, front ? Dims{batch, 1, 1, hidden} : Dims{1, 1, batch, hidden}));
    }
    ofDirections.push_back(concat(steps, front ? 1 : 0));
  }
  NodeResults results{concat(ofDirections, front ? 2 : 1)};
  for (size_t i = 0; i < runs[0].last.size(); ++i) {
    std::vector<Tensor> last;
    for (const Run& run : runs) {
      last.push_back(reshape(run.last[i], front ? Dims{batch, 1, hidden} : Dims{1, batch, hidden}));
    }
    results.push_back(concat(last, front ? 1 : 0));
  }
  return results;
}

NodeResults simple(NodeCall& call) {
  const Layer layer(call, 1, {"Tanh"});
  std::vector<Run> runs;
  for (int64_t i = 0; i < layer.directions(); ++i) {
    const OneWay d(layer, i, 1);
    runs.push_back(runOf(d, {d.firstState(5)}, [&](Tensor x, const std::vector<Tensor>& states) {
      return std::vector<Tensor>{d.activated(0, x + d.fromState(states[0]))};
    }));
  }
  return stacked(layer, runs);
}

// Gates update, reset, candidate.
Tensor gruStep(const OneWay& d, Tensor x, Tensor h, bool resetAfter) {
  const Tensor all = resetAfter ? d.fromState(h) : Tensor();
  const auto state = [&](int64_t i) { return resetAfter ? d.gate(all, i) : d.fromState(h, i); };
  const Tensor update = d.activated(0, d.gate(x, 0) + state(0)),
               reset = d.activated(0, d.gate(x, 1) + state(1));
  const Tensor past = resetAfter ? reset * state(2) : d.fromState(reset * h, 2);
  return (1 - update) * d.activated(1, d.gate(x, 2) + past) + update * h;
}

NodeResults gated(NodeCall& call) {
  const Layer layer(call, 3, {"Sigmoid", "Tanh"});
  const bool resetAfter = call.integer("linear_before_reset", 0) != 0;
  std::vector<Run> runs;
  for (int64_t i = 0; i < layer.directions(); ++i) {
    const OneWay d(layer, i, 3);
    runs.push_back(runOf(d, {d.firstState(5)}, [&](Tensor x, const std::vector<Tensor>& states) {
      return std::vector<Tensor>{gruStep(d, x, states[0], resetAfter)};
    }));
  }
  return stacked(layer, runs);
}

// Gates input, output, forget, candidate; their peepholes stand in the same order.
NodeResults longShort(NodeCall& call) {
  call.only("input_forget", 0);
  const Layer layer(call, 4, {"Sigmoid", "Tanh", "Tanh"});
  std::vector<Run> runs;
  for (int64_t i = 0; i < layer.directions(); ++i) {
    const OneWay d(layer, i, 4);
    const bool peeps = call.has(7);
    const auto peeped = [&](Tensor sum, int64_t gate, Tensor cell) {
      return peeps ? sum + d.peephole(gate) * cell : sum;
    };
    runs.push_back(
        runOf(d, {d.firstState(5), d.firstState(6)}, [&](Tensor x, const std::vector<Tensor>& states) {
          const Tensor sums = x + d.fromState(states[0]), before = states[1];
          const Tensor input = d.activated(0, peeped(d.gate(sums, 0), 0, before));
          const Tensor forget = d.activated(0, peeped(d.gate(sums, 2), 2, before));
          const Tensor cell = forget * before + input * d.activated(1, d.gate(sums, 3));
          const Tensor output = d.activated(0, peeped(d.gate(sums, 1), 1, cell));
          return std::vector<Tensor>{output * layer.activated(i, 2, cell), cell};
        }));
  }
  return stacked(layer, runs);
}

} // namespace

MappingTable recurrentMappings() { return {{"GRU", gated}, {"LSTM", longShort}, {"RNN", simple}}; }

} // namespace dfc::onnx
