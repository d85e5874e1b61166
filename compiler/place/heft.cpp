#include "compiler/place/heft.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace dfc {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr uint32_t unsettled = std::numeric_limits<uint32_t>::max();

double meanSeconds(const TaskRow& task) {
  double sum = 0;
  int count = 0;
  for (const double seconds : task.seconds) {
    if (std::isfinite(seconds)) {
      sum += seconds;
      ++count;
    }
  }
  DFC_ASSERT(count > 0, "a task that may run nowhere");
  return sum / count;
}

LinkCost meanCommunication(const TaskGraph& graph) {
  LinkCost mean;
  int pairs = 0;
  const size_t n = graph.deviceCount();
  for (size_t from = 0; from < n; ++from) {
    for (size_t to = 0; to < n; ++to) {
      const LinkCost& cost = graph.communication[from * n + to];
      if (from != to && std::isfinite(cost.latency)) {
        mean.latency += cost.latency;
        mean.secondsPerByte += cost.secondsPerByte;
        ++pairs;
      }
    }
  }
  return pairs == 0 ? mean : LinkCost{mean.latency / pairs, mean.secondsPerByte / pairs};
}

// Limit on the idle gaps that are tried for a task: with tens of thousands of short gaps, trying all of them
// for each task would take quadratic time.
constexpr int mostGapsTried = 64;

/// The busy time of one queue, as its idle gaps in order.
class QueueTimeline {
 public:
  /// The earliest start, not before `ready`, in a gap that holds `seconds`; the last gap has no end.
  double earliestStart(double ready, double seconds) const {
    auto gap = gaps_.lower_bound(ready + seconds);
    for (int tried = 0; tried < mostGapsTried && gap != gaps_.end(); ++tried, ++gap) {
      const double start = std::max(ready, gap->second);
      if (start + seconds <= gap->first) {
        return start;
      }
    }
    return std::max(ready, std::prev(gaps_.end())->second);
  }

  void occupy(double start, double end) {
    if (start == end) {
      return;
    }
    const auto gap = gaps_.lower_bound(end);
    const double gapStart = gap->second;
    if (gap->first > end) {
      gap->second = end;
    } else {
      gaps_.erase(gap);
    }
    if (gapStart < start) {
      gaps_.emplace(start, gapStart);
    }
  }

 private:
  std::map<double, double> gaps_{{never, 0.0}}; // end of gap -> start of gap
};

class Heft {
 public:
  explicit Heft(const TaskGraph& graph) : graph_(graph), device_(graph.tasks.size(), unsettled) {
    result_.tasks = SideTable<TaskId, TaskPlacement>(graph.tasks.size());
    for (const uint32_t queues : graph.queues) {
      queues_.emplace_back(queues);
    }
  }

  HeftSchedule run() {
    for (const TaskId task : byRank()) {
      if (!graph_.tasks[task].floating) {
        place(task);
      }
    }
    settleTheRest();
    return std::move(result_);
  }

 private:
  struct Choice {
    uint32_t device = unsettled, queue = 0;
    double start = 0, end = never;
  };

  std::vector<TaskId> byRank() const {
    const auto ranks = upwardRanks(graph_);
    const auto ids = graph_.tasks.ids();
    std::vector<TaskId> order(ids.begin(), ids.end());
    std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) { return ranks[a] > ranks[b]; });
    return order;
  }

  void place(TaskId task) {
    Choice best;
    for (uint32_t device = 0; device < graph_.deviceCount(); ++device) {
      if (std::isfinite(graph_.tasks[task].seconds[device]) && mayFollow(task, device)) {
        consider(task, device, best);
      }
    }
    DFC_ASSERT(best.device != unsettled, "a task that may run nowhere");
    queues_[best.device][best.queue].occupy(best.start, best.end);
    settle(task, best);
    for (const TaskEdge& edge : graph_.tasks[task].predecessors) {
      if (graph_.tasks[edge.other].floating && device_[edge.other] == unsettled) {
        settle(edge.other, {homeOf(edge.other, best.device), 0, 0, 0});
      }
    }
  }

  void consider(TaskId task, uint32_t device, Choice& best) const {
    const double ready = readyTime(task, device);
    const double seconds = graph_.tasks[task].seconds[device];
    for (uint32_t queue = 0; queue < queues_[device].size(); ++queue) {
      const double start = queues_[device][queue].earliestStart(ready, seconds);
      if (start + seconds < best.end) {
        best = {device, queue, start, start + seconds};
      }
    }
  }

  double readyTime(TaskId task, uint32_t device) const {
    double ready = graph_.begins.empty() ? 0 : graph_.begins[device];
    for (const TaskEdge& edge : graph_.tasks[task].predecessors) {
      if (device_[edge.other] != unsettled) { // an unsettled floating predecessor will settle here
        ready = std::max(ready, result_.tasks[edge.other].end +
                                    graph_.transferSeconds(device_[edge.other], device, edge.bytes));
      }
    }
    return ready;
  }

  bool mayFollow(TaskId task, uint32_t device) const {
    const TaskId leader = graph_.tasks[task].follows;
    return !leader.valid() ||
           (device_[leader] == unsettled ? std::isfinite(graph_.tasks[leader].seconds[device])
                                         : device_[leader] == device);
  }

  // A pinned parameter keeps its device, wherever its first reader runs.
  uint32_t homeOf(TaskId floating, uint32_t wish) const {
    const auto& seconds = graph_.tasks[floating].seconds;
    if (std::isfinite(seconds[wish])) {
      return wish;
    }
    const auto* home =
        std::find_if(seconds.begin(), seconds.end(), [](double s) { return std::isfinite(s); });
    return static_cast<uint32_t>(home - seconds.begin());
  }

  void settle(TaskId task, const Choice& choice) {
    device_[task] = choice.device;
    result_.tasks[task] = {choice.device, choice.start, choice.end};
    result_.makespan = std::max(result_.makespan, choice.end);
  }

  void settleTheRest() {
    for (const TaskId task : graph_.tasks.ids()) {
      if (device_[task] == unsettled) {
        settle(task, {homeOf(task, 0), 0, 0, 0});
      }
    }
  }

  const TaskGraph& graph_;
  SideTable<TaskId, uint32_t> device_;
  std::vector<std::vector<QueueTimeline>> queues_; // by device
  HeftSchedule result_;
};

} // namespace

SideTable<TaskId, double> upwardRanks(const TaskGraph& graph) {
  const LinkCost mean = meanCommunication(graph);
  SideTable<TaskId, double> ranks(graph.tasks.size());
  for (size_t i = graph.tasks.size(); i-- > 0;) {
    const TaskId task(static_cast<uint32_t>(i));
    double longest = 0;
    for (const TaskEdge& edge : graph.tasks[task].successors) {
      longest = std::max(longest, mean.latency + edge.bytes * mean.secondsPerByte + ranks[edge.other]);
    }
    ranks[task] = meanSeconds(graph.tasks[task]) + longest;
  }
  return ranks;
}

HeftSchedule heft(const TaskGraph& graph) { return Heft(graph).run(); }

} // namespace dfc
