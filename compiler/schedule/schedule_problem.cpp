#include "compiler/schedule/schedule_problem.h"

#include "compiler/schedule/prune_waits.h"
#include "compiler/schedule/reuse_distance.h"
#include "compiler/schedule/schedule.h"
#include "ir/graph/micro_batch.h"
#include "ir/plan/feeds.h"

#include <algorithm>

namespace dfc {
namespace {

/// Queues of one kind on one device are one group of interchangeable queues; a device's groups are in the
/// order of their kinds.
struct Groups {
  std::vector<uint32_t> first;     // by device: its compute group; copyIn, copyOut and peer follow for a gpu
  std::vector<QueueId> firstQueue; // by group
  std::vector<uint32_t> queues;
};

Groups groupsOf(const Table<QueueId, QueueRow>& queues, size_t deviceCount) {
  Groups groups;
  groups.first.resize(deviceCount, noTask);
  for (const QueueId queue : queues.ids()) {
    const QueueRow& row = queues[queue];
    if (row.index > 0) {
      ++groups.queues.back();
      continue;
    }
    uint32_t& first = groups.first[row.device.index()];
    first = std::min(first, static_cast<uint32_t>(groups.queues.size()));
    groups.firstQueue.push_back(queue);
    groups.queues.push_back(1);
  }
  return groups;
}

class ProblemMaker {
 public:
  ProblemMaker(const PlacedGraph& placed, const Machine& machine, const CostModel& cost)
      : placed_(placed), graph_(placed.graph), machine_(machine), cost_(cost) {
    problem_.taskOf = SideTable<OpId, uint32_t>(graph_.opCount(), noTask);
    problem_.queues = queuesOf(machine);
    staged_ = stagedInputs(placed, machine);
    groups_ = groupsOf(problem_.queues, machine.devices.size());
    if (cost.knowsMemory()) {
      fromMemory_ = partsFromMemory(placed, machine);
    }
  }

  ScheduleProblem run() {
    problem_.firstQueueOf = groups_.firstQueue;
    problem_.list.groupQueues = groups_.queues;
    for (const LinkRow& link : machine_.links) {
      problem_.list.linkSlots.push_back(link.slots);
    }
    for (const QueueId queue : groups_.firstQueue) {
      const DeviceId device = problem_.queues[queue].device;
      problem_.list.groupBegins.push_back(machine_.devices[device].stepOverheadSeconds);
    }
    problem_.list.tasks.reserve(graph_.opCount());
    problem_.opOf.reserve(graph_.opCount());
    SideTable<OpId, llvm::SmallVector<OpId, 0>> ordered(graph_.opCount());
    for (const Ordering& ordering : placed_.orderings) {
      ordered[ordering.after].push_back(ordering.before);
    }
    for (const OpId op : graph_.ops()) {
      if (!placed_.isResident(op)) {
        addTask(op, ordered[op]);
      }
    }
    return std::move(problem_);
  }

 private:
  void addTask(OpId op, llvm::ArrayRef<OpId> ordered) {
    ListTask task;
    const auto transfer = placed_.transfers.find(op);
    if (transfer != placed_.transfers.end()) {
      const TransferRow& row = transfer->second;
      const CopyQueue queue = copyQueueOf(row.from, row.to, machine_);
      task.group = groups_.first[queue.device.index()] + static_cast<uint32_t>(queue.kind);
      task.seconds = cost_.transferSeconds(machine_, {row.from, row.to, row.links}, row.bytes);
      for (const LinkId link : row.links) {
        task.links.push_back(link.index());
      }
    } else if (staged_[op]) {
      task.group = groups_.first[placed_.device[op].index()];
      task.seconds = stagingSeconds(machine_.devices[placed_.device[op]], bytesOfInput(op));
      task.utilisation = task.seconds > 0 ? 1 : 0; // of the memory
    } else {
      task.group = groups_.first[placed_.device[op].index()];
      task.seconds = opSeconds(op);
      task.utilisation = task.seconds > 0 ? cost_.utilisation(graph_, op, machine_, placed_.device[op]) : 0;
    }
    for (const ValueId operand : graph_[op].operands) {
      addBefore(task, graph_[operand].producer);
    }
    for (const OpId before : ordered) {
      addBefore(task, before);
    }
    task.scope = graph_[op].scope.index();
    task.microBatch =
        microBatchOf(transfer != placed_.transfers.end() ? graph_[graph_[op].operands[0]].producer : op);
    problem_.taskOf[op] = static_cast<uint32_t>(problem_.list.tasks.size());
    problem_.opOf.push_back(op);
    problem_.list.tasks.push_back(std::move(task));
  }

  /// Between those with operands in the cache and in memory, by the part of the bytes that is there.
  double opSeconds(OpId op) const {
    const double seconds = cost_.opSeconds(graph_, op, machine_, placed_.device[op]);
    if (!cost_.knowsMemory() || fromMemory_[op] == 0) {
      return seconds;
    }
    const double cold = cost_.fromMemorySeconds(graph_, op, machine_, placed_.device[op]);
    return seconds + fromMemory_[op] * std::max(cold - seconds, 0.0);
  }

  // Read off the scope (ir/graph/micro_batch.h).
  uint32_t microBatchOf(OpId op) {
    const StringId scope = graph_[op].scope;
    const auto [found, isNew] = microBatches_.try_emplace(scope.index(), noMicroBatch);
    if (isNew) {
      found->second = dfc::microBatchOf(graph_.scopeOf(op)).value_or(noMicroBatch);
    }
    return found->second;
  }

  int64_t bytesOfInput(OpId op) const { return graph_.typeOf(graph_[op].firstResult).bytes(); }

  void addBefore(ListTask& task, OpId before) const {
    const uint32_t other = problem_.taskOf[before];
    if (other != noTask && !llvm::is_contained(task.before, other)) {
      task.before.push_back(other);
    }
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  const CostModel& cost_;
  llvm::DenseMap<uint32_t, uint32_t> microBatches_; // number by scope
  Groups groups_;
  SideTable<OpId, bool> staged_;
  SideTable<OpId, double> fromMemory_; ///< where the cost model knows what that costs
  ScheduleProblem problem_;
};

void addSteps(const ScheduleProblem& problem, const ListResult& times, Schedule& schedule) {
  schedule.stepOf = SideTable<OpId, StepId>(problem.taskOf.size());
  for (const uint32_t task : times.order) {
    StepRow step;
    step.op = problem.opOf[task];
    step.queue = QueueId(problem.firstQueueOf[problem.list.tasks[task].group].index() + times.queue[task]);
    QueueRow& queue = schedule.queues[step.queue];
    step.position = static_cast<uint32_t>(queue.steps.size());
    step.start = times.start[task];
    step.end = times.end[task];
    step.utilisation = problem.list.tasks[task].utilisation;
    step.slowed = std::max(0.0, step.end - (step.start + problem.list.tasks[task].seconds)); // 0 to the bit
    schedule.stepOf[step.op] = schedule.steps.add(step);
    queue.steps.push_back(schedule.stepOf[step.op]);
  }
}

void addWaits(const ScheduleProblem& problem, llvm::ArrayRef<TaskOrdering> orderings, Schedule& schedule) {
  const auto stepOf = [&](uint32_t task) { return schedule.stepOf[problem.opOf[task]]; };
  for (const StepId step : schedule.steps.ids()) {
    StepRow& row = schedule.steps[step];
    for (const uint32_t before : problem.list.tasks[problem.taskOf[row.op]].before) {
      row.waits.push_back(stepOf(before));
    }
  }
  for (const TaskOrdering& ordering : orderings) {
    schedule.steps[stepOf(ordering.after)].waits.push_back(stepOf(ordering.before));
  }
  pruneWaits(schedule);
}

} // namespace

ScheduleProblem scheduleProblem(const PlacedGraph& placed, const Machine& machine, const CostModel& cost) {
  return ProblemMaker(placed, machine, cost).run();
}

ScheduleProblem scheduleProblem(const Schedule& schedule, const SideTable<StepId, double>& seconds,
                                const PlacedGraph& placed, const Machine& machine, const CostModel& cost) {
  ScheduleProblem problem = scheduleProblem(placed, machine, cost);
  for (uint32_t task = 0; task < problem.opOf.size(); ++task) {
    ListTask& row = problem.list.tasks[task];
    row.seconds = seconds[schedule.stepOf[problem.opOf[task]]];
    if (row.seconds == 0) {
      row.links.clear();
    }
  }
  return problem;
}

Schedule scheduleOf(const ScheduleProblem& problem, const ListResult& result, const LowerBounds& bounds,
                    llvm::ArrayRef<TaskOrdering> orderings) {
  Schedule schedule;
  schedule.queues = problem.queues;
  addSteps(problem, result, schedule);
  addWaits(problem, orderings, schedule);
  schedule.makespan = result.makespan;
  schedule.bounds = bounds;
  schedule.steady = {schedule.makespan, bounds.best()}; // until the launches are known
  return schedule;
}

} // namespace dfc
