#include "compiler/tasks/heft.h"

#include "compiler/tasks/task_placer.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace dfc {
namespace {

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

} // namespace

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

SideTable<TaskId, double> ranksBy(const TaskGraph& graph, double copies,
                                  llvm::function_ref<double(const TaskRow&)> secondsOf) {
  const LinkCost mean = meanCommunication(graph);
  SideTable<TaskId, double> ranks(graph.tasks.size());
  for (size_t i = graph.tasks.size(); i-- > 0;) {
    const TaskId task(static_cast<uint32_t>(i));
    double longest = 0;
    for (const TaskEdge& edge : graph.tasks[task].successors) {
      longest = std::max(longest, copies * mean.seconds(graph.bytesOf(edge)) + ranks[edge.other]);
    }
    ranks[task] = secondsOf(graph.tasks[task]) + longest;
  }
  return ranks;
}

SideTable<TaskId, double> upwardRanks(const TaskGraph& graph) { return ranksBy(graph, 1, meanSeconds); }

std::vector<TaskId> orderByRank(const SideTable<TaskId, double>& ranks) {
  const auto ids = ranks.ids();
  std::vector<TaskId> order(ids.begin(), ids.end());
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) { return ranks[a] > ranks[b]; });
  return order;
}

std::vector<TaskId> readyOrder(const TaskGraph& graph, llvm::ArrayRef<double> ranks) {
  const auto later = [&](TaskId a, TaskId b) {
    const double left = ranks[a.index()], right = ranks[b.index()];
    return left < right || (left == right && b < a);
  };
  std::priority_queue<TaskId, std::vector<TaskId>, decltype(later)> ready(later);
  std::vector<uint32_t> missing;
  missing.reserve(graph.tasks.size());
  for (const TaskId task : graph.tasks.ids()) {
    missing.push_back(static_cast<uint32_t>(graph.tasks[task].predecessors.size()));
    if (missing.back() == 0) {
      ready.push(task);
    }
  }
  std::vector<TaskId> order;
  order.reserve(graph.tasks.size());
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const TaskEdge& edge : graph.tasks[order.back()].successors) {
      if (--missing[edge.other.index()] == 0) {
        ready.push(edge.other);
      }
    }
  }
  return order;
}

TaskSchedule heft(const TaskGraph& graph) {
  TaskPlacer placer(graph);
  const double makespan = placer.run(orderByRank(upwardRanks(graph)));
  TaskSchedule result = placer.schedule();
  result.makespan = makespan;
  return result;
}

} // namespace dfc
