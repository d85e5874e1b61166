// Rewriter: how a pass makes a new graph from an old one. Walk the old ops in order; copy each, or replace
// its results by new values. Names, scopes, pins, places and fetches carry over.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

class Rewriter {
 public:
  explicit Rewriter(const Graph& old);
  const Graph& old() const { return old_; }
  GraphBuilder& builder() { return builder_; }
  const Graph& soFar() const { return builder_.soFar(); }

  /// The new value that stands for an old one; asserts that it was copied or replaced already.
  ValueId mapped(ValueId oldValue) const;
  bool isMapped(ValueId oldValue) const { return map_[oldValue].valid(); }
  /// Copies an old op with mapped operands; its names stay.
  OpId copy(OpId oldOp);
  /// Appends an op that takes the place (scope, pin, source location) of `like`; named after its first result
  /// unless `name` is given.
  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> newOperands, OpId like,
              std::string_view name = {});
  /// From now on `oldValue` means `newValue`. Types must agree.
  void replace(ValueId oldValue, ValueId newValue);
  /// Maps the fetches and gives the new graph. Asserts that the pass made no ill-typed op.
  Graph finish() &&;

 private:
  const Graph& old_;
  GraphBuilder builder_;
  SideTable<ValueId, ValueId> map_;
};

} // namespace dfc
