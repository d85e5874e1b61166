// BatchChoices: which ops of a graph run once a micro-batch, along which axis, and which run once.
#pragma once

#include "compiler/split/op_options.h"

#include <optional>
#include <vector>

namespace dfc {

/// The elements that are cut into micro-batches: the length of the first axis of the largest input.
int64_t batchLength(const Graph& graph);

/// How an op runs: once on the whole batch, or once per micro-batch.
struct BatchChoice {
  bool whole = true;
  OpOption option = {};
  std::vector<SplitRange> positions = {}; ///< of the factor, by micro-batch
  llvm::SmallVector<bool, 4> joins =
      {}; ///< by operand: whether the op needs the whole value of an operand that is cut
  /// An op that needs a joined value is in a later phase than the value's producer, so that each phase can
  /// run micro-batch by micro-batch.
  uint32_t phase = 0;
  /// The operand to which each micro-batch adds: the op's own result for the micro-batch before, and the
  /// whole operand for the first. The result of the last one is whole.
  std::optional<size_t> accumulator = {};
};

/// Decides, op by op, in the order of the graph.
class BatchChoices {
 public:
  /// `count`: micro-batches.
  BatchChoices(const Graph& graph, size_t count);
  void choose();
  /// False if only inputs could be cut.
  bool any() const { return any_; }

  size_t count() const { return shares_.size(); }
  /// Whether all micro-batches have one length, and the pieces of each value that is joined again.
  bool isEven() const;
  const BatchChoice& of(OpId op) const { return choices_[op]; }
  /// Whole (`onAll`), cut into pieces, or partial results, of which each micro-batch has one.
  const Layout& layout(ValueId value) const { return layouts_[value]; }
  /// Whether the value is cut and an op needs the whole of it, or it is fetched.
  bool isJoined(ValueId value) const { return joined_[value]; }

 private:
  void choose(OpId op);
  bool isOfBatch(OpId input) const;
  void findOption(OpId op, BatchChoice& choice) const;
  /// Sets the positions and joins of an option. Returns its cost: 1 for each joined sum, 100 for each joined
  /// concatenation.
  size_t fill(OpId op, const SplitRule& rule, BatchChoice& choice) const;
  std::vector<SplitRange> positionsOf(OpId op, const OpOption& option, const SplitFactor& factor) const;
  bool mayAccumulate(OpId op, size_t operand) const;
  bool hasPieces(ValueId operand, const BatchChoice& choice, const SplitRule& rule, size_t i) const;

  const Graph& graph_;
  std::vector<double> shares_;
  int64_t batch_; ///< length of the axis
  bool any_ = false;
  SideTable<OpId, BatchChoice> choices_;
  SideTable<ValueId, Layout> layouts_;
  SideTable<ValueId, std::vector<SplitRange>> ranges_; ///< of each micro-batch's piece
  SideTable<ValueId, bool> joined_;
  SideTable<ValueId, bool> accumulated_; ///< whole when the last micro-batch has added to it
};

} // namespace dfc
