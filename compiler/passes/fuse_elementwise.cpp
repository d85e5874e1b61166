// fuse_elementwise: maximal groups of elementwise ops become one `fused` op each, so that intermediate values
// never reach memory; a reduction may close a group. Which ops make a group, and why that is safe, is
// said in fusion_groups.h; here each group is written as a loop body.
//
// Promises the same bits (a body rounds after every instruction, as its ops did) and never more bytes read or
// written. A broadcast outside a group is read at its source where the loop keeps its shape. Linear: the
// groups are formed in one walk from readers to producers, and written in one forwards.
#include "compiler/passes/fusion_groups.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/spread_casts.h"
#include "ir/graph/fused_instruction.h"
#include "ir/graph/rewriter.h"
#include "ir/graph/rules/op_rules.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

ops::Fused::Reduction reductionOf(OpKind kind) {
  switch (kind) {
  case OpKind::ReduceSum: return ops::Fused::Reduction::Sum;
  case OpKind::ReduceMean: return ops::Fused::Reduction::Mean;
  case OpKind::ReduceMax: return ops::Fused::Reduction::Max;
  default: return ops::Fused::Reduction::None;
  }
}

// Writes one group as a fused op.
class Weaver {
 public:
  Weaver(const Graph& graph, Rewriter& rewriter, const FusionGroup& group)
      : graph_(graph), rewriter_(rewriter), group_(group) {}

  void weave() {
    chooseOperands();
    for (const OpId member : llvm::reverse(group_.members)) {
      addInstruction(member);
    }
    closeWithReduction();
    const OpId made = rewriter_.append(std::move(op_), operands_, group_.root);
    rewriter_.replace(graph_[group_.root].firstResult, rewriter_.builder().result(made));
  }

 private:
  const Graph& made() const { return rewriter_.builder().soFar(); }

  // Gives every value from outside a register, in the order in which the body reads them.
  void chooseOperands() {
    llvm::SmallVector<ValueId, 8> values;
    for (const OpId member : llvm::reverse(group_.members)) {
      llvm::copy_if(graph_[member].operands, std::back_inserter(values), [&](ValueId value) {
        return llvm::is_contained(group_.operands, value) && !llvm::is_contained(values, value);
      });
    }
    llvm::SmallVector<ValueId, 8> sources;
    llvm::transform(values, std::back_inserter(sources),
                    [&](ValueId value) { return rewriter_.mapped(value); });
    for (ValueId& source : sources) {
      readAtSource(source, sources);
    }
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto* known = llvm::find(operands_, sources[i]);
      registers_[values[i]] = static_cast<uint32_t>(known - operands_.begin());
      if (known == operands_.end()) {
        operands_.push_back(sources[i]);
      }
    }
  }

  // Looks through a broadcast when the other operands still span the loop.
  void readAtSource(ValueId& source, llvm::ArrayRef<ValueId> sources) const {
    const OpRow& row = made()[made()[source].producer];
    const bool free = row.kind() == OpKind::Broadcast &&
                      (made().text(row.pin).empty() || made().text(row.pin) == graph_.pinOf(group_.root));
    if (!free) {
      return;
    }
    const ValueId stretched = source;
    source = row.operands[0];
    llvm::SmallVector<TensorType, 8> types;
    for (const ValueId operand : sources) {
      types.push_back(made().typeOf(operand));
    }
    if (commonShape(types) != group_.loop) {
      source = stretched;
    }
  }

  void addInstruction(OpId member) {
    const OpRow& row = graph_[member];
    ops::FusedInstruction instruction = instructionOf(row.attributes, graph_.typeOf(row.firstResult).element);
    for (const ValueId operand : row.operands) {
      instruction.inputs.push_back(registers_.lookup(operand));
    }
    registers_[row.firstResult] = static_cast<uint32_t>(operands_.size() + op_.body.instructions.size());
    op_.body.instructions.push_back(std::move(instruction));
  }

  template <class Op>
  void reduceAs(const Op& reduction) {
    op_.axes = *normalAxes(reduction.axes, group_.loop.rank());
    op_.keepDims = reduction.keepDims;
  }
  void closeWithReduction() {
    const OpRow& root = graph_[group_.root];
    op_.reduction = reductionOf(root.kind());
    if (const auto* sum = root.getIf<ops::ReduceSum>()) {
      reduceAs(*sum);
    } else if (const auto* mean = root.getIf<ops::ReduceMean>()) {
      reduceAs(*mean);
      op_.count = mean->count;
    } else if (const auto* most = root.getIf<ops::ReduceMax>()) {
      reduceAs(*most);
    }
  }

  const Graph& graph_;
  Rewriter& rewriter_;
  const FusionGroup& group_;
  ops::Fused op_;
  llvm::SmallVector<ValueId, 4> operands_;      // new values
  llvm::DenseMap<ValueId, uint32_t> registers_; // of old values
};

} // namespace

Result<Graph> fuseElementwise(const Graph& source, const PassOptions& /*options*/) {
  const Graph graph = spreadCasts(source);
  const FusionGroups groups(graph);
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    const FusionGroup* group = groups.groupOf(op);
    if (group == nullptr) {
      rewriter.copy(op);
    } else if (group->root == op) {
      Weaver(graph, rewriter, *group).weave();
    }
  }
  return std::move(rewriter).finish();
}

} // namespace dfc
