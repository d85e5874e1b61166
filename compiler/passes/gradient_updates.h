// What a training step does with its gradients: the calls and requests of `gradients` on which an assign to a
// parameter depends, the assigns that a step is to leave out if those gradients are no numbers, and the order
// in which it can be decided at once. Used by scale_losses.
#pragma once

#include "compiler/passes/differentiations.h"

#include <vector>

namespace dfc {

class GradientUpdates {
 public:
  GradientUpdates(const Graph& graph, const Differentiations& written);

  /// Whether an assign depends on the gradients of the call whose first op this is, or of this request.
  bool isTrainedBy(OpId firstOp) const { return callOf_[firstOp] != none && trains_[callIndex(firstOp)]; }
  /// Whether an assign depends on the value.
  bool isNeeded(ValueId value) const { return needed_[value]; }
  /// Whether the assign is one of the update: its value depends on such gradients, or its parameter is state
  /// that the update alone reads, such as the powers of Adam's bias correction.
  bool isUpdate(OpId assign) const { return update_[assign]; }
  /// The last one in `order`; invalid where there is none.
  OpId lastUpdate() const { return lastUpdate_; }
  /// All ops, each behind those that it reads, the update and the readers of its results behind all others.
  std::vector<OpId> order() const;

 private:
  static constexpr int32_t none = -1;
  /// Readers of a value, in this step or, through state, in a later one.
  enum Reader : uint8_t { ByUpdate = 1, ByGradients = 2 };

  size_t callIndex(OpId op) const { return static_cast<size_t>(callOf_[op]); }
  bool isInTraining(OpId op) const { return callOf_[op] != none && trains_[callIndex(op)]; }
  void findCalls(const Differentiations& written);
  void findNeeded();
  void findUpdate();
  void addStateOfUpdate();
  void findLate();

  const Graph& graph_;
  std::vector<GradientRecord> calls_; ///< those of the DSL that can be replaced, and the requests
  SideTable<OpId, int32_t> callOf_;   ///< of an op that belongs to one
  std::vector<bool> trains_;          ///< of a call
  SideTable<ValueId, bool> needed_;
  SideTable<OpId, bool> update_, late_; ///< late_: reads a result of the update, or is one of it
  OpId lastUpdate_;
};

} // namespace dfc
