// Write-after-read orderings for state. An assign overwrites its parameter, so every reader of the old value
// must end first. Where also the op that makes the new value comes after all of them, it may write the
// parameter's storage directly and the assign costs nothing; the memory planner finds that out from the
// schedule, so all that is needed here is to order it so. Orderings go from a smaller to a larger op id only,
// so they can close no cycle.
#include "compiler/transfer/insert_transfers.h"
#include "ir/plan/in_place.h"

namespace dfc {
namespace {

/// The readers of a parameter and, transitively, of views of it; the views are included.
std::vector<OpId> readersOf(const Graph& graph, OpId parameter,
                            const SideTable<ValueId, llvm::SmallVector<OpId, 2>>& uses) {
  std::vector<OpId> readers;
  std::vector<ValueId> pending{graph[parameter].firstResult};
  while (!pending.empty()) {
    const ValueId value = pending.back();
    pending.pop_back();
    for (const OpId use : uses[value]) {
      readers.push_back(use);
      if (classOf(graph[use].kind()) == OpClass::View) {
        pending.push_back(graph[use].firstResult);
      }
    }
  }
  return readers;
}

class StateOrderer {
 public:
  explicit StateOrderer(PlacedGraph& placed)
      : placed_(placed), graph_(placed.graph), uses_(graph_.valueCount()) {
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        if (uses_[operand].empty() || uses_[operand].back() != op) {
          uses_[operand].push_back(op);
        }
      }
    }
  }

  void run() {
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      orderAssign(op);
    }
  }

 private:
  void orderAssign(OpId assign) {
    const OpId parameter = graph_[graph_[assign].operands[0]].producer;
    const OpId producer = graph_[graph_[assign].operands[1]].producer;
    const auto readers = readersOf(graph_, parameter, uses_);
    const bool direct = mayWriteDirectly(producer, parameter, assign, readers);
    for (const OpId reader : readers) {
      if (reader == assign) {
        continue;
      }
      DFC_ASSERT(reader < assign, "assigns come last in a placed graph");
      if (direct && reader != producer) {
        placed_.orderings.push_back({reader, producer});
      } else if (reader != producer) {
        placed_.orderings.push_back({reader, assign});
      }
    }
  }

  bool mayWriteDirectly(OpId producer, OpId parameter, OpId assign, llvm::ArrayRef<OpId> readers) const {
    if (placed_.isResident(producer) || graph_[producer].kind() == OpKind::Input ||
        classOf(graph_[producer].kind()) == OpClass::View) {
      return false;
    }
    for (const OpId reader : readers) {
      if (reader != assign && reader != producer && !(reader < producer)) {
        return false;
      }
    }
    const OpRow& row = graph_[producer];
    for (size_t i = 0; i < row.operands.size(); ++i) {
      if (row.operands[i] == graph_[parameter].firstResult && !mayRunInPlace(graph_, producer, i)) {
        return false;
      }
    }
    return true;
  }

  PlacedGraph& placed_;
  const Graph& graph_;
  SideTable<ValueId, llvm::SmallVector<OpId, 2>> uses_;
};

} // namespace

void orderStateWrites(PlacedGraph& placed) {
  if (!placed.graph.opsOf(OpKind::Assign).empty()) {
    StateOrderer(placed).run();
  }
}

} // namespace dfc
