#include "compiler/schedule/schedule.h"

#include "compiler/schedule/late_updates.h"
#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/priorities.h"
#include "compiler/schedule/saving_orderings.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>
#include <optional>

namespace dfc {

Table<QueueId, QueueRow> queuesOf(const Machine& machine) {
  Table<QueueId, QueueRow> queues;
  for (const DeviceId device : machine.devices.ids()) {
    const DeviceRow& row = machine.devices[device];
    for (uint32_t i = 0; i < std::max(1U, row.computeQueues); ++i) {
      queues.add({device, QueueKind::Compute, i, {}});
    }
    if (row.kind == DeviceKind::Gpu) {
      for (const QueueKind kind : {QueueKind::CopyIn, QueueKind::CopyOut, QueueKind::Peer}) {
        queues.add({device, kind, 0, {}});
      }
    }
  }
  return queues;
}

CopyQueue copyQueueOf(DeviceId from, DeviceId to, const Machine& machine) {
  const bool fromGpu = machine.devices[from].kind == DeviceKind::Gpu;
  const bool toGpu = machine.devices[to].kind == DeviceKind::Gpu;
  if (fromGpu && toGpu) {
    return {from, QueueKind::Peer};
  }
  if (toGpu) {
    return {to, QueueKind::CopyIn};
  }
  return fromGpu ? CopyQueue{from, QueueKind::CopyOut} : CopyQueue{to, QueueKind::Compute};
}

namespace {

// Lower bound on the cost of a wait between two queues of one device: a cache line travels between cores.
constexpr double leastWaitSeconds = 2e-7;

// Seconds that the queues of one device may lose by waiting for one another: the largest number of waits of
// one queue times the cost of a wait.
double lostToWaits(const ListProblem& problem, const ListResult& result) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> waits; // by group and queue
  uint32_t most = 0;
  for (uint32_t task = 0; task < problem.tasks.size(); ++task) {
    const ListTask& row = problem.tasks[task];
    const bool isWaiting =
        problem.groupQueues[row.group] > 1 && llvm::any_of(row.before, [&](uint32_t before) {
          return problem.tasks[before].group == row.group && result.queue[before] != result.queue[task];
        });
    most = isWaiting ? std::max(most, ++waits[{row.group, result.queue[task]}]) : most;
  }
  return most * leastWaitSeconds;
}

// A schedule on one queue a device, if it is no slower than many queues with their waits: ops shorter than a
// wait gain nothing from running side by side.
std::optional<ListResult> onOneQueue(const ListProblem& problem, const ListResult& onMany) {
  const double limit = onMany.makespan + lostToWaits(problem, onMany);
  if (limit <= onMany.makespan) {
    return std::nullopt;
  }
  ListProblem narrow = problem;
  std::fill(narrow.groupQueues.begin(), narrow.groupQueues.end(), 1U);
  if (lowerBounds(narrow).best() > limit) {
    return std::nullopt;
  }
  ListResult onOne = listSchedule(narrow, scopeRanks(narrow));
  return onOne.makespan <= limit ? std::optional(std::move(onOne)) : std::nullopt;
}

// Relative difference of makespans that is rounding.
constexpr double rounding = 2e-9;
// Forward-backward improvement: how often it is repeated, and the part of the makespan that it has to save.
constexpr int mostImprovements = 4;
constexpr double leastImprovement = 0.01;

bool reaches(const ListResult& result, double least) { return result.makespan <= least * (1 + rounding); }

// The best order that a row of priorities.def gives; the earlier row wins ties. Later rows are tried only
// where no earlier one reaches the lower bound `least`.
ListResult bestOfPriorities(const ListProblem& problem, double least) {
  std::optional<ListResult> best;
  for (const PriorityRow& priority : allPriorities()) {
    if (best && reaches(*best, least)) {
      break;
    }
    const std::vector<double> ranks = priority.ranks(problem);
    if (ranks.empty()) {
      continue;
    }
    ListResult result = listSchedule(problem, ranks);
    if (!best || result.makespan < (1 - priority.gain) * best->makespan) {
      best = std::move(result);
    }
  }
  return *std::move(best);
}

// Justified again and again while that helps, on queues that may wait for an urgent task.
ListResult improved(const ListProblem& problem, ListResult first, double least) {
  ListResult best = first;
  for (int round = 0; round < mostImprovements && !reaches(best, least); ++round) {
    ListResult next = listSchedule(problem, justifiedRanks(problem, best.end), IdleQueues::MayWait);
    if (next.makespan >= best.makespan) {
      break;
    }
    best = std::move(next);
  }
  return best.makespan < (1 - leastImprovement) * first.makespan ? best : first;
}

ListResult bestOrder(const ListProblem& problem, double least) {
  return improved(problem, bestOfPriorities(problem, least), least);
}

// Part of a makespan that may be lost so that values share bytes, and how often the peak is looked at again.
constexpr double worthSavedMemory = 1e-3;
constexpr int mostRounds = 4;

// Whether all computations that take time run on one group of queues. With several devices an ordering on one
// may delay a transfer to another, which hides fewer copies at an equal makespan.
bool computesInOneGroup(const PlacedGraph& placed, const ScheduleProblem& problem) {
  uint32_t group = noTask;
  for (uint32_t i = 0; i < problem.list.tasks.size(); ++i) {
    const ListTask& task = problem.list.tasks[i];
    const bool computes =
        task.seconds > 0 && !task.before.empty() && placed.transfers.count(problem.opOf[i]) == 0;
    if (computes && group != noTask && task.group != group) {
      return false;
    }
    group = computes ? task.group : group;
  }
  return true;
}

// The best order that keeps the orderings too, if it takes no longer than `most`; the problem then has them.
std::optional<ListResult> withOrderings(ScheduleProblem& problem, const std::vector<TaskOrdering>& orderings,
                                        double most) {
  if (orderings.empty()) {
    return std::nullopt;
  }
  ListProblem ordered = problem.list;
  for (const TaskOrdering& ordering : orderings) {
    ordered.tasks[ordering.after].before.push_back(ordering.before);
  }
  unmarkWhatOthersNeed(ordered);
  ListResult result = bestOrder(ordered, most);
  if (result.makespan > most) {
    return std::nullopt;
  }
  problem.list = std::move(ordered);
  return result;
}

} // namespace

Schedule makeSchedule(const PlacedGraph& placed, const Machine& machine, const CostModel& cost,
                      LaunchForms forms) {
  ScheduleProblem problem = scheduleProblem(placed, machine, cost, forms);
  const LowerBounds bounds = boundsOf(problem);
  ListResult best = bestOrder(problem.list, bounds.best());
  const double most = best.makespan * (1 + worthSavedMemory);
  const bool alone = computesInOneGroup(placed, problem);
  for (int round = 0; alone && round < mostRounds; ++round) {
    std::optional<ListResult> saving = withOrderings(problem, savingOrderings(placed, problem, best), most);
    if (!saving) {
      break;
    }
    best = *std::move(saving);
  }
  if (std::optional<ListResult> onOne = onOneQueue(problem.list, best)) {
    best = *std::move(onOne);
  }
  return scheduleOf(problem, best, bounds);
}

double predictedMakespan(const PlacedGraph& placed, const Machine& machine, const CostModel& cost,
                         double least, LaunchForms forms) {
  const ScheduleProblem problem = scheduleProblem(placed, machine, cost, forms);
  return std::max(bestOrder(problem.list, std::max(least, problem.feeds)).makespan, problem.feeds);
}

} // namespace dfc
