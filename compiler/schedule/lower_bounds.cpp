// Each bound is the optimum of a problem that asks for less. A chain alone takes the sum of its durations. A
// resource of k queues or slots is relaxed to one that is k times as fast, a device that tasks share to one
// that gives each task all of itself for as much of it as it demands; either works on one task at a time, may
// interrupt it, and sees the rest of the schedule only as the chains before and behind its tasks.
#include "compiler/schedule/lower_bounds.h"

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

/// The chains before and behind each task, and what follows from them for a resource.
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

  /// `share(task)`: of each second of the task, how much is the resource's. A bound leaves out what takes
  /// none of it, and what starts or ends at no finite time.
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
    if (next < tasks.size() && tasks[next].head < end) { // somebody more urgent may come
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
  std::vector<std::vector<uint32_t>> ofGroup(problem.groupQueues.size()), ofLink(problem.linkSlots.size());
  for (uint32_t i = 0; i < problem.tasks.size(); ++i) {
    ofGroup[problem.tasks[i].group].push_back(i);
    for (const uint32_t link : problem.tasks[i].links) {
      ofLink[link].push_back(i);
    }
  }
  const Bounder bounder(problem);
  LowerBounds bounds;
  bounds.criticalPath = bounder.longestChain();
  for (size_t group = 0; group < ofGroup.size(); ++group) {
    const double perQueue = 1.0 / problem.groupQueues[group];
    bounds.busiestQueue = std::max(bounds.busiestQueue,
                                   bounder.bound(ofGroup[group], [&](const ListTask&) { return perQueue; }));
    if (perQueue < 1) { // nobody demands more than all of the device, which one queue has
      bounds.busiestQueue =
          std::max(bounds.busiestQueue,
                   bounder.bound(ofGroup[group], [](const ListTask& task) { return task.utilisation; }));
    }
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

} // namespace dfc
