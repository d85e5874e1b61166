#include "compiler/tasks/peft.h"

#include "compiler/tasks/heft.h"
#include "compiler/tasks/task_placer.h"

#include <algorithm>
#include <numeric>

namespace dfc {

// The smallest of "on the same device, without a copy" and "on the best device, with one".
std::vector<double> optimisticCosts(const TaskGraph& graph) {
  const LinkCost mean = meanCommunication(graph);
  const size_t devices = graph.deviceCount();
  std::vector<double> costs(graph.tasks.size() * devices);
  for (size_t i = graph.tasks.size(); i-- > 0;) {
    for (const TaskEdge& edge : graph.tasks[TaskId(static_cast<uint32_t>(i))].successors) {
      const double* after = &costs[edge.other.index() * devices];
      const auto& seconds = graph.tasks[edge.other].seconds;
      double best = std::numeric_limits<double>::infinity();
      for (size_t device = 0; device < devices; ++device) {
        best = std::min(best, after[device] + seconds[device]);
      }
      best += mean.seconds(graph.bytesOf(edge));
      for (size_t device = 0; device < devices; ++device) {
        double& cost = costs[i * devices + device];
        cost = std::max(cost, std::min(best, after[device] + seconds[device]));
      }
    }
  }
  return costs;
}

std::vector<double> optimisticRanks(const TaskGraph& graph, const std::vector<double>& costs) {
  const auto devices = static_cast<ptrdiff_t>(graph.deviceCount());
  std::vector<double> ranks;
  ranks.reserve(graph.tasks.size());
  for (auto row = costs.begin(); row != costs.end(); row += devices) {
    ranks.push_back(std::accumulate(row, row + devices, 0.0) / static_cast<double>(devices));
  }
  return ranks;
}

TaskSchedule peft(const TaskGraph& graph) {
  const std::vector<double> costs = optimisticCosts(graph);
  TaskPlacer placer(graph);
  const double makespan = placer.run(readyOrder(graph, optimisticRanks(graph, costs)),
                                     {.fixed = {}, .penalty = costs, .tails = {}});
  TaskSchedule result = placer.schedule();
  result.makespan = makespan;
  return result;
}

} // namespace dfc
