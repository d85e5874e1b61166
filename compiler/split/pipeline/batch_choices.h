// BatchChoices: which ops of a graph run once a micro-batch, along which axis, and which run once.
#pragma once

#include "compiler/split/op_options.h"

#include <vector>

namespace dfc {

/// How an op of the old graph runs: whole, once, or in parts.
struct BatchChoice {
  bool whole = true;
  OpOption option = {};
  std::vector<SplitRange> positions = {}; ///< of the factor, by part
  llvm::SmallVector<bool, 4> joins = {};  ///< by operand: whether the whole of a value in parts is read
  /// The ops of a phase need wholes of earlier phases only, so that a phase can run part by part.
  uint32_t phase = 0;
};

/// Decides, op by op, in the order of the graph.
class BatchChoices {
 public:
  /// `count`: micro-batches.
  BatchChoices(const Graph& graph, size_t count);
  /// False where no op but inputs would be in parts.
  bool choose();

  size_t count() const { return shares_.size(); }
  /// Whether the pieces of every value in pieces are of one length.
  bool isEven() const;
  const BatchChoice& of(OpId op) const { return choices_[op]; }
  /// Whole (`onAll`), cut into pieces, or partial results, of which each micro-batch has one.
  const Layout& layout(ValueId value) const { return layouts_[value]; }
  /// Whether some op reads the whole of a value that is in parts, or it is fetched.
  bool isJoined(ValueId value) const { return joined_[value]; }

 private:
  void choose(OpId op);
  bool isOfBatch(OpId input) const;
  void findOption(OpId op, BatchChoice& choice) const;
  /// Sets the positions and joins of an option, and gives the number of joins, of pieces a hundred times.
  size_t fill(OpId op, const SplitRule& rule, BatchChoice& choice) const;
  std::vector<SplitRange> positionsOf(OpId op, const OpOption& option, const SplitFactor& factor) const;
  bool hasPieces(ValueId operand, const BatchChoice& choice, const SplitRule& rule, size_t i) const;

  const Graph& graph_;
  std::vector<double> shares_;
  int64_t batch_; ///< length of the axis
  SideTable<OpId, BatchChoice> choices_;
  SideTable<ValueId, Layout> layouts_;
  SideTable<ValueId, std::vector<SplitRange>> ranges_; ///< of pieces, by part
  SideTable<ValueId, bool> joined_;
};

} // namespace dfc
