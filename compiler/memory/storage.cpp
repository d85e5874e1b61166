#include "compiler/memory/storage.h"

#include "ir/plan/in_place.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

/// Union-find over values that share a storage; the facts of a storage are kept at its root.
class StorageForest {
 public:
  struct Facts {
    bool resident = false, liveOut = false;
    StepId first;
    /// The last step of each queue that reads or writes the storage; queue order covers the earlier ones. An
    /// assign does not count as a use of its parameter: where it moves bytes at all, it comes last.
    llvm::SmallVector<std::pair<QueueId, StepId>, 2> last;
    void note(QueueId queue, StepId step) { // steps are in topological order, so later on a queue is larger
      for (auto& [known, latest] : last) {
        if (known == queue) {
          latest = std::max(latest, step);
          return;
        }
      }
      last.emplace_back(queue, step);
    }
  };

  StorageForest(const PlacedGraph& placed, const Schedule& schedule)
      : parent_(placed.graph.valueCount()), offset_(placed.graph.valueCount(), 0),
        facts_(placed.graph.valueCount()) {
    const Graph& graph = placed.graph;
    for (const ValueId value : graph.values()) {
      parent_[value] = value;
      facts_[value].resident = placed.isResident(graph[value].producer);
      facts_[value].first = schedule.stepOf[graph[value].producer];
    }
    for (const StepId step : schedule.steps.ids()) {
      const OpRow& row = graph[schedule.steps[step].op];
      const QueueId queue = schedule.steps[step].queue;
      if (row.kind() == OpKind::Assign) {
        facts_[row.operands[1]].note(queue, step);
        continue;
      }
      for (const ValueId operand : row.operands) {
        facts_[operand].note(queue, step);
      }
      for (const ValueId result : row.results()) {
        facts_[result].note(queue, step);
      }
    }
    for (const Fetch& fetch : graph.fetches()) {
      facts_[fetch.value].liveOut = true;
    }
  }

  ValueId root(ValueId value) {
    while (parent_[value] != value) {
      offset_[value] += offset_[parent_[value]];
      parent_[value] = parent_[parent_[value]];
      value = parent_[value];
    }
    return value;
  }
  const Facts& facts(ValueId value) { return facts_[root(value)]; }
  /// Of a value in its storage, in bytes.
  int64_t offsetOf(ValueId value) const {
    int64_t offset = offset_[value];
    for (; parent_[value] != value; value = parent_[value]) {
      offset += offset_[parent_[value]];
    }
    return offset;
  }

  /// `other`, which begins its storage, and all that shares its storage come to lie `offset` bytes behind
  /// `into`.
  void join(ValueId into, ValueId other, int64_t offset = 0) {
    offset += offsetOf(into);
    into = root(into);
    other = root(other);
    if (into == other) {
      return;
    }
    offset_[other] = offset;
    Facts& kept = facts_[into];
    Facts& gone = facts_[other];
    kept.resident |= gone.resident;
    kept.liveOut |= gone.liveOut;
    kept.first = kept.resident ? StepId() : std::min(kept.first, gone.first);
    for (const auto& [queue, step] : gone.last) {
      kept.note(queue, step);
    }
    parent_[other] = into;
  }

 private:
  SideTable<ValueId, ValueId> parent_;
  SideTable<ValueId, int64_t> offset_; // behind the parent, in bytes; 0 of a root
  SideTable<ValueId, Facts> facts_;
};

class StoragePlanner {
 public:
  StoragePlanner(const PlacedGraph& placed, const Schedule& schedule, const HappensBefore& before)
      : placed_(placed), graph_(placed.graph), schedule_(schedule), before_(before),
        forest_(placed, schedule) {}

  StoragePlan run(Sharing sharing) {
    // Views and state first: they share storage by definition; sharing by overwriting is an optimisation.
    for (const StepRow& step : schedule_.steps) {
      const OpRow& row = graph_[step.op];
      if (const auto shared = sharesStorageWith(row)) {
        forest_.join(row.operands[*shared], row.firstResult, viewOffset(graph_, row));
      }
    }
    if (sharing == Sharing::InPlace) {
      shareInPlace();
    }
    return collect();
  }

 private:
  void shareInPlace() {
    std::vector<StepId> assigns;
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      assigns.push_back(schedule_.stepOf[op]);
    }
    llvm::sort(assigns);
    for (const StepId step : assigns) {
      tryDirectAssign(step);
    }
    for (const StepId step : schedule_.steps.ids()) {
      tryInPlace(step);
    }
  }

  // The new value may be computed in the parameter's own storage if its first write happens after every other
  // use of the parameter.
  void tryDirectAssign(StepId assign) {
    const OpRow& row = graph_[schedule_.steps[assign].op];
    const ValueId parameter = row.operands[0];
    const ValueId value = row.operands[1];
    const auto& fresh = forest_.facts(value);
    if (fresh.resident || graph_[graph_[value].producer].kind() == OpKind::Input ||
        liesInSubview(graph_, value)) {
      return;
    }
    const StepId write = fresh.first;
    for (const auto& [queue, use] : forest_.facts(parameter).last) {
      if (use != write && !before_.ordered(use, write)) {
        return;
      }
    }
    if (inPlaceIsSafe(write, parameter)) {
      forest_.join(parameter, value);
    }
  }

  void tryInPlace(StepId step) {
    const OpRow& row = graph_[schedule_.steps[step].op];
    if (row.resultCount != 1 || sharesStorageWith(row) || forest_.facts(row.firstResult).resident) {
      return;
    }
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const ValueId operand = row.operands[i];
      if (mayRunInPlace(graph_, schedule_.steps[step].op, i) && diesAt(operand, step) &&
          inPlaceIsSafe(step, operand)) {
        forest_.join(operand, row.firstResult);
        return;
      }
    }
  }

  bool diesAt(ValueId operand, StepId step) {
    const auto& facts = forest_.facts(operand);
    if (facts.resident || facts.liveOut) {
      return false;
    }
    return llvm::all_of(
        facts.last, [&](const auto& use) { return use.second == step || before_.ordered(use.second, step); });
  }

  // Every operand that lies in the storage of `target` must be one that the op may overwrite.
  bool inPlaceIsSafe(StepId step, ValueId target) {
    const OpId op = schedule_.steps[step].op;
    const OpRow& row = graph_[op];
    for (size_t i = 0; i < row.operands.size(); ++i) {
      if (forest_.root(row.operands[i]) == forest_.root(target) && !mayRunInPlace(graph_, op, i)) {
        return false;
      }
    }
    return true;
  }

  StoragePlan collect() {
    StoragePlan plan;
    plan.of = SideTable<ValueId, StorageId>(graph_.valueCount());
    plan.offset = SideTable<ValueId, int64_t>(graph_.valueCount(), 0);
    for (const ValueId value : graph_.values()) {
      const ValueId root = forest_.root(value);
      if (!plan.of[root].valid()) {
        plan.of[root] = plan.storages.add(rowOf(root));
      }
      plan.of[value] = plan.of[root];
      plan.offset[value] = forest_.offsetOf(value);
      StorageRow& row = plan.storages[plan.of[root]];
      if (graph_.typeOf(value).bytes() > row.bytes || !row.value.valid()) {
        row.bytes = graph_.typeOf(value).bytes();
        row.value = value;
      }
    }
    return plan;
  }

  StorageRow rowOf(ValueId root) {
    const auto& facts = forest_.facts(root);
    StorageRow row;
    row.device = placed_.device[graph_[root].producer];
    row.resident = facts.resident;
    row.liveOut = facts.liveOut;
    row.first = facts.first;
    row.begin = row.resident || !row.first.valid() ? 0 : schedule_.steps[row.first].start;
    row.end = row.resident || row.liveOut ? schedule_.makespan : row.begin;
    for (const auto& [queue, use] : facts.last) {
      row.end = std::max(row.end, schedule_.steps[use].end);
      row.last.emplace_back(queue, schedule_.steps[use].position);
    }
    return row;
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Schedule& schedule_;
  const HappensBefore& before_;
  StorageForest forest_;
};

} // namespace

StoragePlan planStorage(const PlacedGraph& placed, const Schedule& schedule, const HappensBefore& before,
                        Sharing sharing) {
  return StoragePlanner(placed, schedule, before).run(sharing);
}

bool diesBefore(const StorageRow& a, const StorageRow& b, const HappensBefore& before) {
  return !a.liveOut && !a.resident && !b.resident &&
         std::all_of(a.last.begin(), a.last.end(),
                     [&](const auto& use) { return before.countBefore(b.first, use.first) > use.second; });
}

} // namespace dfc
