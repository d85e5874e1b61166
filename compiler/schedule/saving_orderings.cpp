#include "compiler/schedule/saving_orderings.h"

#include "ir/plan/in_place.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace dfc {
namespace {

constexpr int64_t leastBytes = int64_t{1} << 20; // smaller values get no orderings

class OrderingFinder {
 public:
  OrderingFinder(const PlacedGraph& placed, const ScheduleProblem& problem, const ListResult& times)
      : placed_(placed), graph_(placed.graph), problem_(problem), times_(times), root_(graph_.valueCount()),
        readers_(graph_.valueCount()), fetched_(graph_.valueCount()), end_(graph_.valueCount()) {}

  std::vector<TaskOrdering> run() {
    for (const OpId op : graph_.ops()) {
      noteValues(op);
    }
    for (const Fetch& fetch : graph_.fetches()) {
      fetched_[root_[fetch.value]] = true;
      end_[root_[fetch.value]] = times_.makespan;
    }
    findPeaks();
    for (const OpId op : graph_.ops()) {
      if (problem_.taskOf[op] != noTask && isLarge(graph_[op].firstResult) &&
          isAliveAtPeak(graph_[op].firstResult)) {
        orderReaders(op);
        delaySource(op);
      }
    }
    return std::move(orderings_);
  }

 private:
  // Operands have smaller ids than results, so one walk finds every root.
  void noteValues(OpId op) {
    const OpRow& row = graph_[op];
    for (const ValueId operand : row.operands) {
      readers_[root_[operand]].push_back(op);
      end_[root_[operand]] = std::max(end_[root_[operand]], endOf(op));
    }
    for (const ValueId result : row.results()) {
      const auto shared = sharesStorageWith(row);
      root_[result] = shared ? root_[row.operands[*shared]] : result;
      end_[root_[result]] = std::max(end_[root_[result]], endOf(op));
    }
  }

  double startOf(OpId op) const {
    const uint32_t task = problem_.taskOf[op];
    return task == noTask ? 0 : times_.start[task];
  }
  double endOf(OpId op) const {
    const uint32_t task = problem_.taskOf[op];
    return task == noTask ? times_.makespan : times_.end[task];
  }

  // The memory peak of each device: the moment at which the most bytes are alive.
  void findPeaks() {
    std::vector<std::tuple<double, int64_t, uint32_t>> events; // at one time, ends (negative) come first
    for (const ValueId value : graph_.values()) {
      const OpId producer = graph_[value].producer;
      const int64_t bytes = graph_.typeOf(value).bytes();
      if (root_[value] == value && !placed_.isResident(producer) && startOf(producer) < end_[value]) {
        const uint32_t device = placed_.device[producer].index();
        events.emplace_back(startOf(producer), bytes, device);
        events.emplace_back(end_[value], -bytes, device);
      }
    }
    llvm::sort(events);
    std::map<uint32_t, std::pair<int64_t, int64_t>> alive; // by device: bytes now and at most
    for (const auto& [time, bytes, device] : events) {
      auto& [now, most] = alive[device];
      now += bytes;
      if (now > most) {
        most = now;
        peak_[device] = time;
      }
    }
  }

  bool isAliveAtPeak(ValueId value) const {
    const OpId producer = graph_[value].producer;
    const auto peak = peak_.find(placed_.device[producer].index());
    return peak != peak_.end() && startOf(producer) <= peak->second && peak->second < end_[value];
  }

  bool isLarge(ValueId value) const {
    return root_[value] == value && graph_.typeOf(value).bytes() >= leastBytes;
  }
  bool sameDevice(OpId a, OpId b) const { return placed_.device[a] == placed_.device[b]; }

  // Only for an operand whose other readers all have smaller numbers than `op`: a later one may depend on it.
  void orderReaders(OpId op) {
    const OpRow& row = graph_[op];
    if (row.resultCount != 1 || sharesStorageWith(row)) {
      return;
    }
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const ValueId operand = root_[row.operands[i]];
      const OpId producer = graph_[operand].producer;
      if (!isAliveAtPeak(operand)) {
        continue;
      }
      const auto isEarlier = [&](OpId reader) { return reader <= op && sameDevice(reader, op); };
      if (mayRunInPlace(graph_, op, i) && problem_.taskOf[producer] != noTask && sameDevice(producer, op) &&
          !fetched_[operand] && llvm::all_of(readers_[operand], isEarlier)) {
        for (const OpId reader : readers_[operand]) {
          add(problem_.taskOf[reader], problem_.taskOf[op]);
        }
        return;
      }
    }
  }

  void delaySource(OpId op) {
    const uint32_t task = problem_.taskOf[op];
    const auto& readers = readers_[graph_[op].firstResult];
    if (!problem_.list.tasks[task].before.empty() || readers.empty() || !sameDevice(readers.front(), op)) {
      return;
    }
    const auto peak = peak_.find(placed_.device[op].index());
    if (startOf(readers.front()) <= peak->second) {
      return;
    }
    uint32_t latest = noTask;
    for (const uint32_t other : problem_.list.tasks[problem_.taskOf[readers.front()]].before) {
      const bool sameGroup = problem_.list.tasks[other].group == problem_.list.tasks[task].group;
      if (other != task && sameGroup && (latest == noTask || other > latest)) {
        latest = other;
      }
    }
    if (latest != noTask) {
      for (const uint32_t before : problem_.list.tasks[latest].before) {
        add(before, task);
      }
    }
  }

  void add(uint32_t before, uint32_t after) {
    if (before < after && problem_.list.tasks[before].group == problem_.list.tasks[after].group &&
        !llvm::is_contained(problem_.list.tasks[after].before, before)) {
      orderings_.push_back({before, after});
    }
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const ScheduleProblem& problem_;
  const ListResult& times_;
  SideTable<ValueId, ValueId> root_;
  SideTable<ValueId, llvm::SmallVector<OpId, 2>> readers_; ///< by root, in the order of their numbers
  SideTable<ValueId, char> fetched_;                       ///< by root
  SideTable<ValueId, double> end_;                         ///< of the last use, by root
  std::map<uint32_t, double> peak_;                        ///< seconds, by device
  std::vector<TaskOrdering> orderings_;
};

} // namespace

std::vector<TaskOrdering> savingOrderings(const PlacedGraph& placed, const ScheduleProblem& problem,
                                          const ListResult& times) {
  return OrderingFinder(placed, problem, times).run();
}

} // namespace dfc
