// fuse_elementwise: maximal groups of elementwise ops become one `fused` op each, so that what flows between
// them never reaches memory; a reduction may close a group.
//
// Assumes nothing of the graph. Promises the same bits (a body rounds after every instruction, as its ops
// did), no work done twice, and never more bytes read or written:
// - An op joins the group of its readers when all of them are in one group and nothing else sees its value
//   (no fetch, no assign). So a group has one result, every path out of a member ends there, and a fused op
//   in the place of that result cannot close a cycle.
// - Members have the shape of the group's loop, for a smaller one would be computed once for each element
// that
//   it is stretched to. A broadcast outside the group is read at its source where the loop keeps its shape.
// - Members agree in pin and in scope: the scopes that an author draws are boxes, and a box stays what he put
//   into it.
// - Groups of one op stay as they are.
// Linear: one walk from readers to producers forms the groups, one forwards writes them. The greedy grouping
// along single-reader values is the classic one of array compilers (loop fusion without recomputation;
// Darte 2000 on why optimal grouping is NP-complete).
#include "compiler/passes/passes.h"
#include "ir/op_rules.h"
#include "ir/rewriter.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

// Bounds on what one kernel must hold: registers of a loop body, and pointers into memory.
constexpr size_t mostInstructions = 64;
constexpr size_t mostOperands = 16;

struct Group {
  OpId root; ///< the op that gives the result; a reduction, or the last member
  Shape loop;
  llvm::SmallVector<OpId, 4> members;     ///< elementwise ops, readers first
  llvm::SmallVector<ValueId, 4> operands; ///< values that members read from outside
};

using GroupId = Id<struct GroupTag>;

ops::Fused::Reduction reductionOf(OpKind kind) {
  switch (kind) {
  case OpKind::ReduceSum: return ops::Fused::Reduction::Sum;
  case OpKind::ReduceMean: return ops::Fused::Reduction::Mean;
  case OpKind::ReduceMax: return ops::Fused::Reduction::Max;
  default: return ops::Fused::Reduction::None;
  }
}

// Which group, if any, reads a value, and whether anything else does.
class Readers {
 public:
  explicit Readers(const Graph& graph) : group_(graph.valueCount()), others_(graph.valueCount(), false) {
    for (const Fetch& fetch : graph.fetches()) {
      others_[fetch.value] = true;
    }
  }
  void add(ValueId value, GroupId group) {
    others_[value] = others_[value] || !group.valid() || (group_[value].valid() && group_[value] != group);
    group_[value] = group;
  }
  GroupId only(ValueId value) const { return others_[value] ? GroupId() : group_[value]; }

 private:
  SideTable<ValueId, GroupId> group_;
  SideTable<ValueId, bool> others_;
};

class Grouping {
 public:
  explicit Grouping(const Graph& graph) : graph_(graph), readers_(graph), groupOf_(graph.opCount()) {
    for (auto index = static_cast<uint32_t>(graph.opCount()); index-- > 0;) {
      place(OpId(index));
    }
  }
  /// The group that an op became part of; none for ops that stay as they are.
  const Group* groupOf(OpId op) const {
    const GroupId group = groupOf_[op];
    return group.valid() && isWorthwhile(groups_[group]) ? &groups_[group] : nullptr;
  }

 private:
  void place(OpId op) {
    const OpRow& row = graph_[op];
    const OpClass opClass = classOf(row.kind());
    if (opClass == OpClass::Elementwise) {
      const GroupId group = readers_.only(row.firstResult);
      join(op, group.valid() && fits(op, groups_[group]) ? group
                                                         : found(op, graph_.typeOf(row.firstResult).shape));
    } else if (opClass == OpClass::Reduction) {
      groupOf_[op] = found(op, graph_.typeOf(row.operands[0]).shape);
      readers_.add(row.operands[0], groupOf_[op]);
    } else {
      for (const ValueId operand : row.operands) {
        readers_.add(operand, GroupId());
      }
    }
  }

  GroupId found(OpId root, const Shape& loop) { return groups_.add({root, loop, {}, {}}); }

  bool fits(OpId op, const Group& group) const {
    const OpRow &row = graph_[op], &root = graph_[group.root];
    return row.pin == root.pin && row.scope == root.scope &&
           graph_.typeOf(row.firstResult).shape == group.loop && group.members.size() < mostInstructions &&
           operandsWith(op, group).size() <= mostOperands;
  }

  // What the group reads once `op` is a member.
  llvm::SmallVector<ValueId, 4> operandsWith(OpId op, const Group& group) const {
    llvm::SmallVector<ValueId, 4> operands;
    llvm::copy_if(group.operands, std::back_inserter(operands),
                  [&](ValueId value) { return graph_[value].producer != op; });
    for (const ValueId operand : graph_[op].operands) {
      if (!llvm::is_contained(operands, operand)) {
        operands.push_back(operand);
      }
    }
    return operands;
  }

  void join(OpId op, GroupId group) {
    groupOf_[op] = group;
    groups_[group].operands = operandsWith(op, groups_[group]);
    groups_[group].members.push_back(op);
    for (const ValueId operand : graph_[op].operands) {
      readers_.add(operand, group);
    }
  }

  // A reduction gains from one member, an elementwise op from another.
  bool isWorthwhile(const Group& group) const {
    const bool reduces = classOf(graph_[group.root].kind()) == OpClass::Reduction;
    return group.members.size() > (reduces ? 0 : 1);
  }

  const Graph& graph_;
  Readers readers_;
  Table<GroupId, Group> groups_;
  SideTable<OpId, GroupId> groupOf_;
};

// Writes one group as a fused op.
class Weaver {
 public:
  Weaver(const Graph& graph, Rewriter& rewriter, const Group& group)
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
    ops::FusedInstruction instruction;
    instruction.kind = row.kind();
    instruction.type = graph_.typeOf(row.firstResult).element;
    if (const auto* compare = row.getIf<ops::Compare>()) {
      instruction.variant = static_cast<uint8_t>(compare->direction);
    }
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
    } else if (const auto* most = root.getIf<ops::ReduceMax>()) {
      reduceAs(*most);
    }
  }

  const Graph& graph_;
  Rewriter& rewriter_;
  const Group& group_;
  ops::Fused op_;
  llvm::SmallVector<ValueId, 4> operands_;      // new values
  llvm::DenseMap<ValueId, uint32_t> registers_; // of old values
};

} // namespace

Result<Graph> fuseElementwise(const Graph& graph) {
  const Grouping grouping(graph);
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    const Group* group = grouping.groupOf(op);
    if (group == nullptr) {
      rewriter.copy(op);
    } else if (group->root == op) {
      Weaver(graph, rewriter, *group).weave();
    }
  }
  return std::move(rewriter).finish();
}

} // namespace dfc
