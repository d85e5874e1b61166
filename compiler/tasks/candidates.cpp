#include "compiler/tasks/candidates.h"

#include "compiler/tasks/clusters.h"
#include "compiler/tasks/heft.h"
#include "compiler/tasks/peft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

double leastSeconds(const TaskRow& task) {
  return *std::min_element(task.seconds.begin(), task.seconds.end());
}

bool sameColumns(const TaskGraph& graph, size_t a, size_t b) {
  return graph.queues[a] == graph.queues[b] &&
         std::all_of(graph.tasks.begin(), graph.tasks.end(),
                     [&](const TaskRow& task) { return task.seconds[a] == task.seconds[b]; });
}

class Candidates {
 public:
  Candidates(const TaskGraph& graph, const std::function<bool()>& outOfTime,
             const std::function<void(TaskCandidate)>& use)
      : graph_(graph), outOfTime_(outOfTime), use_(use), placer_(graph),
        ranked_(orderByRank(upwardRanks(graph))) {}

  void singles() {
    // Devices that are alike may differ in their links: then each is tried.
    for (uint32_t device = 0; device < graph_.deviceCount() && !outOfTime_(); ++device) {
      bool known = false;
      for (uint32_t other = 0; other < device && !graph_.hasExplicitCopies(); ++other) {
        known |= sameColumns(graph_, device, other);
      }
      if (!known) {
        std::vector<uint32_t> fixed;
        for (const TaskRow& task : graph_.tasks) {
          fixed.push_back(task.seconds[device] < infiniteSeconds ? device : anyDevice);
        }
        PlacementRule rule;
        rule.fixed = fixed;
        add("single", ranked_, rule, device);
      }
    }
  }

  void lists() {
    const std::vector<double> costs = optimisticCosts(graph_);
    const std::vector<TaskId> byCosts = readyOrder(graph_, optimisticRanks(graph_, costs));
    PlacementRule rule;
    add("heft", ranked_, rule);
    rule.penalty = costs;
    add("peft", byCosts, rule);
    if (outOfTime_()) {
      return;
    }
    add("heft/optimistic", ranked_, rule);
    for (const double weight : {0.25, 0.5, 1.0, 2.0, 4.0}) {
      PlacementRule few;
      few.copyWeight = weight;
      add(fmt::format("heft/copies*{}", weight), ranked_, few);
      rule.copyWeight = weight;
      add(fmt::format("peft/copies*{}", weight), ranked_, rule);
    }
    for (const double copies : {0.0, 0.5, 1.0}) {
      add(fmt::format("least/{}", copies), orderByRank(ranksBy(graph_, copies, leastSeconds)), {});
    }
    fewerDevices();
    clusterings();
  }

  void clusterings() {
    const size_t n = graph_.deviceCount();
    for (size_t devices = n; devices >= 2; devices = devices > 4 ? devices / 2 : devices - 1) {
      for (const double part : {1.0, 0.5, 0.25, 0.1}) {
        if (outOfTime_()) {
          return;
        }
        const double share = part / static_cast<double>(devices);
        const std::vector<uint32_t> fixed = clusteredPlacement(graph_, share, devices);
        PlacementRule rule;
        rule.fixed = fixed;
        add(fmt::format("clusters/{}/{}", devices, part), ranked_, rule);
      }
    }
  }

 private:
  void add(std::string name, const std::vector<TaskId>& order, const PlacementRule& rule,
           uint32_t device = anyDevice) {
    if (std::isfinite(placer_.run(order, rule))) {
      use_({std::move(name), device, placer_.schedule(), order});
    }
  }

  // HEFT on the fastest devices alone; tasks that may run on none of them keep theirs.
  void fewerDevices() {
    const std::vector<uint32_t> bySpeed = devicesBySpeed(graph_);
    const size_t n = bySpeed.size();
    for (size_t count = 2; count < n && !outOfTime_(); count = count < 4 ? count + 1 : 2 * count) {
      std::vector<double> penalty(graph_.tasks.size() * n, 0);
      for (const TaskId task : graph_.tasks.ids()) {
        const auto& seconds = graph_.tasks[task].seconds;
        const bool runsThere =
            std::any_of(bySpeed.begin(), bySpeed.begin() + static_cast<ptrdiff_t>(count),
                        [&](uint32_t device) { return seconds[device] < infiniteSeconds; });
        for (size_t i = count; i < n && runsThere; ++i) {
          penalty[task.index() * n + bySpeed[i]] = infiniteSeconds;
        }
      }
      PlacementRule rule;
      rule.penalty = penalty;
      add(fmt::format("heft/{} devices", count), ranked_, rule);
    }
  }

  const TaskGraph& graph_;
  const std::function<bool()>& outOfTime_;
  const std::function<void(TaskCandidate)>& use_;
  TaskPlacer placer_;
  std::vector<TaskId> ranked_;
};

} // namespace

void singleCandidates(const TaskGraph& graph, const std::function<bool()>& outOfTime,
                      const std::function<void(TaskCandidate)>& use) {
  Candidates(graph, outOfTime, use).singles();
}

void clusterCandidates(const TaskGraph& graph, const std::function<void(TaskCandidate)>& use) {
  Candidates(
      graph, [] { return false; }, use)
      .clusterings();
}

// Ties, of tasks without a duration, by number, which is topological.
void orderByStart(TaskCandidate& candidate) {
  const auto& tasks = candidate.schedule.tasks;
  const auto ids = tasks.ids();
  candidate.order.assign(ids.begin(), ids.end());
  std::stable_sort(candidate.order.begin(), candidate.order.end(),
                   [&](TaskId a, TaskId b) { return tasks[a].start < tasks[b].start; });
}

void listCandidates(const TaskGraph& graph, const std::function<bool()>& outOfTime,
                    const std::function<void(TaskCandidate)>& use) {
  Candidates(graph, outOfTime, use).lists();
}

} // namespace dfc
