// FusionGroups: which elementwise ops of a graph become one loop.
//
// Greedy grouping along values that one group reads, the classic one of array compilers (loop fusion without
// recomputation; Darte 2000 on why optimal grouping is NP-complete), in one walk from readers to producers:
// - An op joins the group of its readers when all of them are in one group and nothing else sees its value
//   (no fetch, no assign). So a group has one result, every path out of a member ends there, and a fused op
//   in the place of that result cannot close a cycle.
// - Members have the shape of the group's loop, for a smaller one would be computed once for each element
//   that it is stretched to.
// - Members agree in pin and in scope: fusion never moves an op from one of the author's scopes to another.
// - Groups of one op stay as they are, unless a reduction closes them.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

/// Bounds on what one kernel must hold: registers of a loop body, and pointers into memory.
inline constexpr size_t mostFusedInstructions = 64;
inline constexpr size_t mostFusedOperands = 16;

struct FusionGroup {
  OpId root; ///< the op that gives the result; a reduction, or the last member
  Shape loop;
  llvm::SmallVector<OpId, 4> members;     ///< elementwise ops, readers first
  llvm::SmallVector<ValueId, 4> operands; ///< values that members read from outside
};

class FusionGroups {
 public:
  explicit FusionGroups(const Graph& graph);
  /// The group that an op became part of; null for ops that stay as they are.
  const FusionGroup* groupOf(OpId op) const;

 private:
  using GroupId = Id<struct FusionGroupTag>;

  /// Which group, if any, reads a value, and whether anything else does.
  class Readers {
   public:
    explicit Readers(const Graph& graph);
    void add(ValueId value, GroupId group);
    GroupId only(ValueId value) const { return others_[value] ? GroupId() : group_[value]; }

   private:
    SideTable<ValueId, GroupId> group_;
    SideTable<ValueId, bool> others_;
  };

  void place(OpId op);
  GroupId found(OpId root, const Shape& loop) { return groups_.add({root, loop, {}, {}}); }
  bool fits(OpId op, const FusionGroup& group) const;
  llvm::SmallVector<ValueId, 4> operandsWith(OpId op, const FusionGroup& group) const;
  void join(OpId op, GroupId group);
  bool isWorthwhile(const FusionGroup& group) const;

  const Graph& graph_;
  Readers readers_;
  Table<GroupId, FusionGroup> groups_;
  SideTable<OpId, GroupId> groupOf_;
};

} // namespace dfc
