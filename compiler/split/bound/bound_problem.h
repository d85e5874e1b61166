// BoundProblem: the splits of a graph over a mesh, with costs below those of any plan made from a split, as
// tables at given weights of computation and of links.
//
// Options are those of the rules, in the widest space, and one more: a device alone computes an op that all
// devices would compute, as copies that nothing reads are dropped. A value that several ops read costs the
// largest of the changes of layout that they ask for, as what was sent once may serve all.
#pragma once

#include "compiler/split/bound/op_floor.h"
#include "compiler/split/bound/relayout_floor.h"
#include "compiler/split/bound/used_values.h"
#include "compiler/split/choice/choice_problem.h"

#include <optional>
#include <vector>

namespace dfc {

/// Of a second on the devices and of one on the links into them; they add up to 1.
struct ResourceWeights {
  double compute = 1, links = 0;
};

class BoundProblem {
 public:
  BoundProblem(const Graph& graph, const Mesh& mesh, const Machine& machine, const CostModel& cost);
  /// No split takes less than the least sum of the tables.
  ChoiceProblem at(const ResourceWeights& weights) const;
  /// Whether some change of layout costs anything at any weights.
  bool hasLinks() const { return rate_.bytesPerSecond > 0; }
  /// Of computation alone, layouts aside.
  double leastCompute() const;

 private:
  friend class BoundTables;
  /// An operand of an op.
  struct Read {
    OpId op;
    uint32_t operand = 0;
  };
  void addOptions(OpId op, llvm::ArrayRef<OpOption> options);
  bool isFree(ValueId value) const;
  /// Of a change of layout at a read; infinite where no plan makes it.
  double relayout(ValueId value, size_t option, const Read& read, size_t readerOption,
                  const ResourceWeights& weights) const;

  const Graph& graph_;
  const Mesh& mesh_;
  OpFloor floor_;
  UsedValues used_;
  ArrivalRate rate_;
  std::optional<double> peerShare_; ///< of the seconds of bytes that a kernel reads at peers; none: it cannot
  SideTable<OpId, std::vector<OpOption>> options_;
  SideTable<OpId, std::vector<double>> seconds_; ///< by option
  SideTable<OpId, size_t> ruled_;                ///< how many options are of the rules
  SideTable<ValueId, bool> free_;                ///< no step sends it
  SideTable<ValueId, std::vector<Read>> reads_;
};

} // namespace dfc
