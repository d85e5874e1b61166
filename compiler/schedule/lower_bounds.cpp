// Each bound is the optimum of a relaxation. The critical path ignores resources. A resource of k queues or
// slots is relaxed to one machine that is k times as fast; a device under processor sharing, and the
// bandwidth of a memory, are relaxed to a machine on which a task takes seconds x utilisation. These machines
// run one task at a time, may preempt it, and represent the rest of the schedule by the heads and tails of
// their tasks (Carlier 1982).
#include "compiler/schedule/lower_bounds.h"

#include "compiler/schedule/priorities.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace dfc {
namespace {

/// By task: the earliest start after any chain that leads to it.
std::vector<double> headsOf(const ListProblem& problem) {
  std::vector<double> heads(problem.tasks.size());
  for (size_t i = 0; i < problem.tasks.size(); ++i) {
    heads[i] = problem.beginOf(problem.tasks[i].group);
    for (const uint32_t before : problem.tasks[i].before) {
      heads[i] = std::max(heads[i], heads[before] + problem.tasks[before].seconds);
    }
  }
  return heads;
}

/// Heads and tails of all tasks, and the one-machine bound of a resource.
class Bounder {
 public:
  explicit Bounder(const ListProblem& problem)
      : problem_(problem), heads_(headsOf(problem)), ranks_(upwardRanks(problem)) {}

  double longestChain() const {
    double longest = 0;
    for (size_t i = 0; i < heads_.size(); ++i) {
      longest = std::max(longest, heads_[i] + ranks_[i]);
    }
    return longest;
  }

  /// `share(task)`: the machine's seconds for each second of the task. Tasks without a share, and tasks whose
  /// head or tail is infinite, are left out.
  template <class Share>
  double bound(llvm::ArrayRef<uint32_t> tasks, const Share& share) const {
    std::vector<OneMachineTask> rows;
    for (const uint32_t task : tasks) {
      const double seconds = problem_.tasks[task].seconds, part = share(problem_.tasks[task]);
      if (seconds > 0 && part > 0 && std::isfinite(heads_[task]) && std::isfinite(ranks_[task])) {
        rows.push_back({heads_[task], seconds * part, ranks_[task] - seconds});
      }
    }
    return oneMachineBound(std::move(rows));
  }

 private:
  const ListProblem& problem_;
  std::vector<double> heads_, ranks_;
};

} // namespace

double oneMachineBound(std::vector<OneMachineTask> tasks) {
  std::sort(tasks.begin(), tasks.end(),
            [](const OneMachineTask& a, const OneMachineTask& b) { return a.head < b.head; });
  const auto shorterTail = [](const OneMachineTask* a, const OneMachineTask* b) { return a->tail < b->tail; };
  std::priority_queue<OneMachineTask*, std::vector<OneMachineTask*>, decltype(shorterTail)> there(
      shorterTail);
  double now = 0, last = 0;
  for (size_t next = 0; next < tasks.size() || !there.empty();) {
    if (there.empty()) {
      now = std::max(now, tasks[next].head);
    }
    for (; next < tasks.size() && tasks[next].head <= now; ++next) {
      there.push(&tasks[next]);
    }
    OneMachineTask& task = *there.top();
    const double end = now + task.work;
    if (next < tasks.size() && tasks[next].head < end) { // a task with a longer tail may become available
      task.work = end - tasks[next].head;
      now = tasks[next].head;
    } else {
      there.pop();
      now = end;
      last = std::max(last, end + task.tail);
    }
  }
  return last;
}

LowerBounds lowerBounds(const ListProblem& problem) {
  std::vector<std::vector<uint32_t>> ofGroup(problem.groupQueues.size()), ofLink(problem.linkSlots.size()),
      ofMemory(problem.memories);
  for (uint32_t i = 0; i < problem.tasks.size(); ++i) {
    ofGroup[problem.tasks[i].group].push_back(i);
    for (const uint32_t link : problem.tasks[i].links) {
      ofLink[link].push_back(i);
    }
    if (problem.tasks[i].traffic > 0) {
      ofMemory[problem.tasks[i].memory].push_back(i);
    }
  }
  const Bounder bounder(problem);
  LowerBounds bounds;
  bounds.criticalPath = bounder.longestChain();
  for (size_t group = 0; group < ofGroup.size(); ++group) {
    const double perQueue = 1.0 / problem.groupQueues[group];
    bounds.busiestQueue = std::max(bounds.busiestQueue,
                                   bounder.bound(ofGroup[group], [&](const ListTask&) { return perQueue; }));
    if (perQueue < 1) { // with one queue, the queue's bound is at least as large: no utilisation exceeds 1
      bounds.busiestQueue =
          std::max(bounds.busiestQueue,
                   bounder.bound(ofGroup[group], [](const ListTask& task) { return task.utilisation; }));
    }
  }
  for (const std::vector<uint32_t>& tasks : ofMemory) {
    bounds.busiestQueue = std::max(bounds.busiestQueue,
                                   bounder.bound(tasks, [](const ListTask& task) { return task.traffic; }));
  }
  for (size_t link = 0; link < ofLink.size(); ++link) {
    if (problem.linkSlots[link] > 0) {
      const double perSlot = 1.0 / problem.linkSlots[link];
      bounds.busiestLink =
          std::max(bounds.busiestLink, bounder.bound(ofLink[link], [&](const ListTask&) { return perSlot; }));
    }
  }
  return bounds;
}

LowerBounds withoutRounding(LowerBounds bounds, double makespan) {
  constexpr double rounding = 1e-9;
  for (double* bound : {&bounds.criticalPath, &bounds.busiestQueue, &bounds.busiestLink}) {
    if (*bound <= makespan * (1 + rounding)) {
      *bound = std::min(*bound, makespan);
    }
  }
  return bounds;
}

} // namespace dfc
