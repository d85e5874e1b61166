#include "compiler/passes/fusion_groups.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

// The reductions that a fused op can end in.
bool closesGroup(OpKind kind) {
  return kind == OpKind::ReduceSum || kind == OpKind::ReduceMean || kind == OpKind::ReduceMax;
}

} // namespace

FusionGroups::Readers::Readers(const Graph& graph)
    : group_(graph.valueCount()), others_(graph.valueCount(), false) {
  for (const Fetch& fetch : graph.fetches()) {
    others_[fetch.value] = true;
  }
}

void FusionGroups::Readers::add(ValueId value, GroupId group) {
  others_[value] = others_[value] || !group.valid() || (group_[value].valid() && group_[value] != group);
  group_[value] = group;
}

FusionGroups::FusionGroups(const Graph& graph) : graph_(graph), readers_(graph), groupOf_(graph.opCount()) {
  for (auto index = static_cast<uint32_t>(graph.opCount()); index-- > 0;) {
    place(OpId(index));
  }
}

const FusionGroup* FusionGroups::groupOf(OpId op) const {
  const GroupId group = groupOf_[op];
  return group.valid() && isWorthwhile(groups_[group]) ? &groups_[group] : nullptr;
}

void FusionGroups::place(OpId op) {
  const OpRow& row = graph_[op];
  if (classOf(row.kind()) == OpClass::Elementwise) {
    const GroupId group = readers_.only(row.firstResult);
    const bool joins = group.valid() && fits(op, groups_[group]);
    join(op, joins ? group : found(op, graph_.typeOf(row.firstResult).shape));
  } else if (closesGroup(row.kind())) {
    groupOf_[op] = found(op, graph_.typeOf(row.operands[0]).shape);
    readers_.add(row.operands[0], groupOf_[op]);
  } else {
    for (const ValueId operand : row.operands) {
      readers_.add(operand, GroupId());
    }
  }
}

bool FusionGroups::fits(OpId op, const FusionGroup& group) const {
  const OpRow &row = graph_[op], &root = graph_[group.root];
  return row.pin == root.pin && row.scope == root.scope &&
         graph_.typeOf(row.firstResult).shape == group.loop && group.members.size() < mostFusedInstructions &&
         operandsWith(op, group).size() <= mostFusedOperands;
}

// What the group reads once `op` is a member.
llvm::SmallVector<ValueId, 4> FusionGroups::operandsWith(OpId op, const FusionGroup& group) const {
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

void FusionGroups::join(OpId op, GroupId group) {
  groupOf_[op] = group;
  groups_[group].operands = operandsWith(op, groups_[group]);
  groups_[group].members.push_back(op);
  for (const ValueId operand : graph_[op].operands) {
    readers_.add(operand, group);
  }
}

// A reduction gains from one member, an elementwise op from another.
bool FusionGroups::isWorthwhile(const FusionGroup& group) const {
  return group.members.size() > (closesGroup(graph_[group.root].kind()) ? 0 : 1);
}

} // namespace dfc
