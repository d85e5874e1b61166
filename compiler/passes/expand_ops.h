// OpExpansion: replaces ops of a graph by ordinary ops that are written with the DSL. Used by the passes
// recognise_attention, gradients and decompose.
//
// Inputs and parameters are copied first, so that no new op can take a name by which a caller feeds or
// restores a value. An op's results hand their names on to the tensors that replace them, unless they are the
// default ones. Mistakes are located at the op; all ops are looked at before the pass gives up.
#pragma once

#include "ir/author/builder.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc {

class OpExpansion {
 public:
  /// Which ops of `graph` are expanded.
  using Chosen = llvm::function_ref<bool(OpId)>;
  /// The tensors that replace an op's results, of their types; `operands` are the new ones. Ops are said to
  /// be written where the op was. An empty answer drops the op, whose results nothing that stays may read.
  using Expand = llvm::function_ref<std::vector<Tensor>(OpId op, llvm::ArrayRef<Tensor> operands)>;

  explicit OpExpansion(const Graph& graph) : graph_(graph), rewriter_(graph), builder_(rewriter_.builder()) {}
  Builder& builder() { return builder_; }
  /// What stands for a value of `graph` that was made before the op that is being expanded.
  Tensor tensor(ValueId old) { return {&builder_, rewriter_.mapped(old)}; }
  bool isMade(ValueId old) const { return rewriter_.isMapped(old); }
  /// From now on `made` stands for `old`, with its name and, if it has one, its op's pin: of several results
  /// of one op the last pin holds.
  void replace(ValueId old, Tensor made, uint32_t firstNew);
  /// The new graph, with the builder's warnings, or its errors. Once.
  Result<Graph> run(Chosen chosen, Expand expand) &&;

 private:
  bool isNamedByCallers(OpId op) const;
  bool operandsExist(OpId op) const;
  void expandOp(OpId op, Expand expand);
  void handName(OpId op, ValueId from, ValueId to, uint32_t firstNew);

  const Graph& graph_;
  Rewriter rewriter_;
  Builder builder_;
  llvm::DenseSet<ValueId> named_; // by an earlier result
};

} // namespace dfc
