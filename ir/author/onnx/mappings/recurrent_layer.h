// What ONNX's recurrent layers share: a node's attributes and operands, and one of its directions.
#pragma once

#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

namespace dfc::onnx {

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

} // namespace dfc::onnx
