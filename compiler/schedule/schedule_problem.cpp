#include "compiler/schedule/schedule_problem.h"

#include "compiler/schedule/late_updates.h"
#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/prune_waits.h"
#include "compiler/schedule/reuse_distance.h"
#include "compiler/schedule/schedule.h"
#include "ir/graph/micro_batch.h"
#include "ir/plan/feeds.h"
#include "ir/plan/memory_traffic.h"
#include "ir/plan/peer_reads.h"

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

/// Of a read at a peer beside others of the same reader. Of two plans that are equally fast otherwise, the
/// one with fewer reads is taken.
constexpr double furtherReadSeconds = 2e-7;

/// When feeds are staged and copied.
enum class Feeds : uint8_t { InStep, StepBefore };

class ProblemMaker {
 public:
  ProblemMaker(const PlacedGraph& placed, const Machine& machine, const CostModel& cost, bool peerReads,
               Feeds feeds)
      : placed_(placed), graph_(placed.graph), machine_(machine), cost_(cost), feeds_(feeds),
        prefetchedOn_(machine.links.size(), 0.0) {
    readers_ = peerReads ? smallPeerReads(placed, machine) : SideTable<OpId, OpId>(graph_.opCount());
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
    problem_.list.memories = static_cast<uint32_t>(machine_.devices.size());
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
    for (const LinkId link : machine_.links.ids()) {
      const uint32_t slots = machine_.links[link].slots;
      problem_.feeds = std::max(problem_.feeds, slots > 0 ? prefetchedOn_[link.index()] / slots : 0);
    }
    return std::move(problem_);
  }

 private:
  void addTask(OpId op, llvm::ArrayRef<OpId> ordered) {
    ListTask task;
    const auto transfer = placed_.transfers.find(op);
    if (transfer != placed_.transfers.end()) {
      const TransferRow& row = transfer->second;
      const CopyQueue queue = readers_[op].valid() ? CopyQueue{row.to, QueueKind::CopyIn}
                                                   : copyQueueOf(row.from, row.to, machine_);
      task.group = groups_.first[queue.device.index()] + static_cast<uint32_t>(queue.kind);
      const bool isFurther = readers_[op].valid() && !reading_.insert(readers_[op]).second;
      task.seconds = isFurther ? furtherReadSeconds
                               : cost_.transferSeconds(machine_, {row.from, row.to, row.links}, row.bytes);
      if (!readers_[op].valid()) {
        for (const LinkId link : row.links) {
          task.links.push_back(link.index());
        }
      }
      if (feeds_ == Feeds::StepBefore && isPrefetched(placed_, op, machine_)) {
        prefetch(task, row);
      }
    } else if (staged_[op]) {
      task.group = groups_.first[placed_.device[op].index()];
      task.seconds = stagingSeconds(machine_.devices[placed_.device[op]], bytesOfInput(op));
      task.utilisation = task.seconds > 0 ? 1 : 0; // of the memory
      if (feeds_ == Feeds::StepBefore) {
        staging_ += task.seconds;
        problem_.feeds = std::max(problem_.feeds, staging_);
        task.seconds = 0;
        task.early = true;
      }
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
    setTraffic(task, op);
    noteReader(op);
    problem_.taskOf[op] = static_cast<uint32_t>(problem_.list.tasks.size());
    problem_.opOf.push_back(op);
    problem_.list.tasks.push_back(std::move(task));
  }

  void setTraffic(ListTask& task, OpId op) const {
    const MemoryTraffic traffic = memoryTraffic(placed_, op, task.seconds, machine_);
    task.traffic = traffic.share;
    task.memory = traffic.device.valid() ? traffic.device.index() : 0;
  }

  void prefetch(ListTask& task, const TransferRow& row) {
    for (const uint32_t link : task.links) {
      prefetchedOn_[link] += task.seconds;
    }
    task.links.clear();
    task.seconds = std::min(task.seconds, prefetchedSeconds(machine_.devices[row.to], row.bytes));
  }

  void noteReader(OpId op) {
    for (const ValueId operand : graph_[op].operands) {
      if (const OpId producer = graph_[operand].producer; readers_[producer] == op) {
        problem_.readerOf[problem_.taskOf[producer]] = static_cast<uint32_t>(problem_.list.tasks.size());
      }
    }
    problem_.readerOf.push_back(noTask);
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
  Feeds feeds_;
  double staging_ = 0;
  std::vector<double> prefetchedOn_;                ///< seconds by link
  llvm::DenseMap<uint32_t, uint32_t> microBatches_; // number by scope
  Groups groups_;
  SideTable<OpId, bool> staged_;
  SideTable<OpId, OpId> readers_;
  llvm::DenseSet<OpId> reading_;       ///< ops that read another value at a peer
  SideTable<OpId, double> fromMemory_; ///< where the cost model knows what that costs
  ScheduleProblem problem_;
};

/// By task: of the reads at peers the tasks that read; noTask where another task, too, comes behind the
/// transfer.
std::vector<uint32_t> movedTo(const ScheduleProblem& problem, llvm::ArrayRef<TaskOrdering> orderings) {
  std::vector<uint32_t> readers = problem.readerOf;
  for (uint32_t task = 0; task < problem.list.tasks.size(); ++task) {
    for (const uint32_t before : problem.list.tasks[task].before) {
      readers[before] = readers[before] == task ? task : noTask;
    }
  }
  for (const TaskOrdering& ordering : orderings) {
    readers[ordering.before] = noTask;
  }
  return readers;
}

class StepMaker {
 public:
  StepMaker(const ScheduleProblem& problem, const ListResult& times, Schedule& schedule)
      : problem_(problem), times_(times), schedule_(schedule) {
    schedule_.stepOf = SideTable<OpId, StepId>(problem.taskOf.size());
  }

  // A read at a peer is part of its reader, so it lies on the reader's queue, right before the reader. On a
  // queue of copies it would be ordered before and behind copies for others.
  void run(llvm::ArrayRef<TaskOrdering> orderings) {
    const std::vector<uint32_t> readers = movedTo(problem_, orderings);
    for (const uint32_t task : times_.order) {
      if (readers[task] != noTask) {
        continue;
      }
      for (const uint32_t before : problem_.list.tasks[task].before) {
        if (readers[before] == task) {
          add(before, queueOf(task), times_.start[task], times_.start[task]);
        }
      }
      add(task, queueOf(task), times_.start[task], times_.end[task]);
    }
  }

 private:
  QueueId queueOf(uint32_t task) const {
    return QueueId(problem_.firstQueueOf[problem_.list.tasks[task].group].index() + times_.queue[task]);
  }

  void add(uint32_t task, QueueId on, double start, double end) {
    const ListTask& row = problem_.list.tasks[task];
    StepRow step;
    step.op = problem_.opOf[task];
    step.queue = on;
    QueueRow& queue = schedule_.queues[on];
    step.position = static_cast<uint32_t>(queue.steps.size());
    step.start = start;
    step.end = end;
    step.utilisation = row.utilisation;
    step.slowed = std::max(0.0, step.end - (step.start + row.seconds)); // 0 to the bit
    schedule_.stepOf[step.op] = schedule_.steps.add(step);
    queue.steps.push_back(schedule_.stepOf[step.op]);
  }

  const ScheduleProblem& problem_;
  const ListResult& times_;
  Schedule& schedule_;
};

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

ScheduleProblem scheduleProblem(const PlacedGraph& placed, const Machine& machine, const CostModel& cost,
                                LaunchForms forms) {
  ScheduleProblem problem = ProblemMaker(placed, machine, cost, forms.peerReads, Feeds::StepBefore).run();
  if (forms.merged) {
    markLateUpdates(placed, machine, problem);
  }
  return problem;
}

ScheduleProblem scheduleProblem(const Schedule& schedule, const SideTable<StepId, double>& seconds,
                                const PlacedGraph& placed, const Machine& machine, const CostModel& cost) {
  ScheduleProblem problem = ProblemMaker(placed, machine, cost, false, Feeds::InStep).run();
  for (uint32_t task = 0; task < problem.opOf.size(); ++task) {
    ListTask& row = problem.list.tasks[task];
    const StepId step = schedule.stepOf[problem.opOf[task]];
    row.group = problem.groupOf(schedule.steps[step].queue); // a read at a peer is not where copies are
    row.seconds = seconds[step];
    if (row.seconds == 0) {
      row.links.clear();
    }
    row.traffic = memoryTraffic(placed, problem.opOf[task], row.seconds, machine).share; // of that memory
  }
  return problem;
}

uint32_t ScheduleProblem::groupOf(QueueId queue) const {
  return static_cast<uint32_t>(llvm::upper_bound(firstQueueOf, queue) - firstQueueOf.begin()) - 1;
}

LowerBounds boundsOf(const ScheduleProblem& problem) {
  if (llvm::all_of(problem.readerOf, [](uint32_t reader) { return reader == noTask; })) {
    return lowerBounds(problem.list);
  }
  const std::vector<uint32_t> readers = movedTo(problem, {});
  ListProblem atReaders = problem.list;
  for (uint32_t task = 0; task < readers.size(); ++task) {
    if (readers[task] != noTask) {
      atReaders.tasks[task].group = problem.list.tasks[readers[task]].group;
      atReaders.tasks[task].seconds = 0;
      atReaders.tasks[task].links.clear();
    }
  }
  return lowerBounds(atReaders);
}

Schedule scheduleOf(const ScheduleProblem& problem, const ListResult& result, const LowerBounds& bounds,
                    llvm::ArrayRef<TaskOrdering> orderings) {
  Schedule schedule;
  schedule.queues = problem.queues;
  StepMaker(problem, result, schedule).run(orderings);
  addWaits(problem, orderings, schedule);
  schedule.makespan = result.makespan;
  schedule.bounds = withoutRounding(bounds, schedule.makespan);
  schedule.steady = {schedule.makespan, schedule.bounds.best()}; // until the launches are known
  return schedule;
}

} // namespace dfc
