// OpExpansion: replaces ops of a graph by ordinary ops that are written with the DSL. Used by the passes
// recognise_attention, scale_losses, gradients, decompose and attention_layout.
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
  /// The tensors that replace an op's results, of their types; `operands` are the new ones. Their source
  /// location is that of the op. An empty vector removes the op; no op that is kept may use its results.
  using Expand = llvm::function_ref<std::vector<Tensor>(OpId op, llvm::ArrayRef<Tensor> operands)>;

  explicit OpExpansion(const Graph& graph) : graph_(graph), rewriter_(graph), builder_(rewriter_.builder()) {}
  Builder& builder() { return builder_; }
  /// The new value of a value of `graph` that is defined before the op that is being expanded.
  Tensor tensor(ValueId old) { return {&builder_, rewriter_.mapped(old)}; }
  /// Whether an old value has a new one already.
  bool isMade(ValueId old) const { return rewriter_.isMapped(old); }
  /// Replaces `old` by `made`, which takes its name and its op's pin, if that has one (if several replaced
  /// values get the same producer: the last pin). `firstNew`: the first value that was appended for this.
  void replace(ValueId old, Tensor made, uint32_t firstNew);
  /// The new graph, with the builder's warnings, or its errors. Once.
  Result<Graph> run(Chosen chosen, Expand expand) &&;
  /// The same with the ops in another order, in which each comes behind those that it reads.
  Result<Graph> run(llvm::ArrayRef<OpId> order, Chosen chosen, Expand expand) &&;

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
