// Gradients that the DSL has appended already, removed and taken again (GradientRecord), by passes that
// change what gradients are taken of. Used by recognise_attention and scale_losses.
#pragma once

#include "compiler/passes/expand_ops.h"

#include <llvm/ADT/STLExtras.h>

#include <vector>

namespace dfc {

/// A value inside a call of `gradients` that something outside of it uses.
struct InnerUse {
  ValueId value;
  OpId reader; ///< invalid: it is fetched
};

/// The ops that calls of `gradients` appended and that can be replaced: of a call's ops, nothing but its
/// results has a use outside of them.
class Differentiations {
 public:
  explicit Differentiations(const Graph& graph);
  /// Whether the op is one of a call that can be replaced.
  bool isWrittenAnew(OpId op) const {
    return recordOf_[op] != none && !usedInside_[static_cast<size_t>(recordOf_[op])].value.valid();
  }
  /// Whether the op is one of a call.
  bool isOfCall(OpId op) const { return recordOf_[op] != none; }
  /// Why the op's call cannot be replaced; null where it can, and for other ops.
  const InnerUse* innerUseAt(OpId op) const;
  /// The call that can be replaced and whose first op this is; null for none.
  const GradientRecord* beginningAt(OpId op) const;

 private:
  static constexpr int32_t none = -1;

  void keepWhatItReads(llvm::ArrayRef<ValueId> values, OpId reader);

  const Graph& graph_;
  SideTable<OpId, int32_t> recordOf_;
  std::vector<InnerUse> usedInside_; ///< of a call; no value: it can be replaced
};

/// Gives d loss / d x for each x.
using TakeGradients = llvm::function_ref<std::vector<Tensor>(Tensor loss, const std::vector<Tensor>& wrt)>;

/// Takes a call's gradients of the new graph, by `take`, in the place of its results. To be called for the
/// call's first op; all of its ops are to be removed.
void differentiateAnew(const GradientRecord& record, OpExpansion& expansion, TakeGradients take);
/// By `gradients`.
void differentiateAnew(const GradientRecord& record, OpExpansion& expansion);

} // namespace dfc
