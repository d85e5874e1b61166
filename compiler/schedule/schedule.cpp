#include "compiler/schedule/schedule.h"

#include "compiler/schedule/list_schedule.h"
#include "compiler/schedule/prune_waits.h"

#include <algorithm>
#include <numeric>

namespace dfc {
namespace {

constexpr uint32_t noTask = std::numeric_limits<uint32_t>::max();

/// Queues of one kind on one device are one group of interchangeable lanes.
struct Groups {
  std::vector<uint32_t> first;     // by device: its compute group; copyIn, copyOut and peer follow for a gpu
  std::vector<QueueId> firstQueue; // by group
  std::vector<uint32_t> lanes;
};

Groups groupsOf(const Table<QueueId, QueueRow>& queues, size_t deviceCount) {
  Groups groups;
  groups.first.resize(deviceCount, noTask);
  for (const QueueId queue : queues.ids()) {
    const QueueRow& row = queues[queue];
    if (row.index > 0) {
      ++groups.lanes.back();
      continue;
    }
    uint32_t& first = groups.first[row.device.index()];
    first = std::min(first, static_cast<uint32_t>(groups.lanes.size()));
    groups.firstQueue.push_back(queue);
    groups.lanes.push_back(1);
  }
  return groups;
}

// A copy between the host and a gpu runs on the gpu's engine; one between two gpus on the source's peer
// engine.
uint32_t groupOfTransfer(const TransferRow& transfer, const Machine& machine, const Groups& groups) {
  const bool fromGpu = machine.devices[transfer.from].kind == DeviceKind::Gpu;
  const bool toGpu = machine.devices[transfer.to].kind == DeviceKind::Gpu;
  if (fromGpu && toGpu) {
    return groups.first[transfer.from.index()] + 3;
  }
  if (toGpu) {
    return groups.first[transfer.to.index()] + 1;
  }
  return fromGpu ? groups.first[transfer.from.index()] + 2 : groups.first[transfer.to.index()];
}

class ScheduleMaker {
 public:
  ScheduleMaker(const PlacedGraph& placed, const Machine& machine, const CostModel& cost)
      : placed_(placed), graph_(placed.graph), machine_(machine), cost_(cost),
        taskOf_(graph_.opCount(), noTask) {}

  Schedule run() {
    schedule_.queues = queuesOf(machine_);
    groups_ = groupsOf(schedule_.queues, machine_.devices.size());
    makeTasks();
    const ListResult times = shorterSchedule();
    makeSteps(times);
    addWaits();
    schedule_.makespan = times.makespan;
    schedule_.bounds = lowerBounds();
    return std::move(schedule_);
  }

 private:
  // A list schedule is as good as its priorities. What the author scoped together goes together where that is
  // no slower: it hands over whole boxes, so that what waits for one of them can start (and its operands die
  // sooner).
  ListResult shorterSchedule() const {
    ListResult byBox = listSchedule(problem_, boxRanks(problem_));
    ListResult byTask = listSchedule(problem_);
    return byTask.makespan < byBox.makespan ? byTask : byBox;
  }

  void makeTasks() {
    problem_.groupLanes = groups_.lanes;
    for (const LinkRow& link : machine_.links) {
      problem_.linkSlots.push_back(link.slots);
    }
    SideTable<OpId, llvm::SmallVector<OpId, 0>> ordered(graph_.opCount());
    for (const Ordering& ordering : placed_.orderings) {
      ordered[ordering.after].push_back(ordering.before);
    }
    for (const OpId op : graph_.ops()) {
      if (!placed_.isResident(op)) {
        addTask(op, ordered[op]);
      }
    }
  }

  void addTask(OpId op, llvm::ArrayRef<OpId> ordered) {
    ListTask task;
    const auto transfer = placed_.transfers.find(op);
    if (transfer != placed_.transfers.end()) {
      const TransferRow& row = transfer->second;
      task.group = groupOfTransfer(row, machine_, groups_);
      task.seconds = machine_.seconds({row.from, row.to, row.links}, row.bytes);
      for (const LinkId link : row.links) {
        task.links.push_back(link.index());
      }
    } else {
      task.group = groups_.first[placed_.device[op].index()];
      task.seconds = cost_.opSeconds(graph_, op, machine_, placed_.device[op]);
    }
    for (const ValueId operand : graph_[op].operands) {
      addBefore(task, graph_[operand].producer);
    }
    for (const OpId before : ordered) {
      addBefore(task, before);
    }
    task.box = graph_[op].scope.index();
    taskOf_[op] = static_cast<uint32_t>(problem_.tasks.size());
    opOf_.push_back(op);
    problem_.tasks.push_back(std::move(task));
  }

  void addBefore(ListTask& task, OpId before) const {
    const uint32_t other = taskOf_[before];
    if (other != noTask && !llvm::is_contained(task.before, other)) {
      task.before.push_back(other);
    }
  }

  void makeSteps(const ListResult& times) {
    schedule_.stepOf = SideTable<OpId, StepId>(graph_.opCount());
    for (const uint32_t task : times.order) {
      StepRow step;
      step.op = opOf_[task];
      step.queue = QueueId(groups_.firstQueue[problem_.tasks[task].group].index() + times.lane[task]);
      QueueRow& queue = schedule_.queues[step.queue];
      step.position = static_cast<uint32_t>(queue.steps.size());
      step.start = times.start[task];
      step.end = times.end[task];
      schedule_.stepOf[step.op] = schedule_.steps.add(step);
      queue.steps.push_back(schedule_.stepOf[step.op]);
    }
  }

  void addWaits() {
    for (const StepId step : schedule_.steps.ids()) {
      StepRow& row = schedule_.steps[step];
      for (const uint32_t before : problem_.tasks[taskOf_[row.op]].before) {
        row.waits.push_back(schedule_.stepOf[opOf_[before]]);
      }
    }
    pruneWaits(schedule_);
  }

  // Each holds for any schedule: a chain takes the sum of its durations; a group of k lanes takes its work /
  // k; a link of k slots takes its transfers / k.
  LowerBounds lowerBounds() const {
    LowerBounds bounds;
    const auto ranks = upwardRanks(problem_);
    bounds.criticalPath = ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end());
    std::vector<double> groupWork(problem_.groupLanes.size());
    std::vector<double> linkWork(problem_.linkSlots.size());
    for (const ListTask& task : problem_.tasks) {
      groupWork[task.group] += task.seconds / problem_.groupLanes[task.group];
      for (const uint32_t link : task.links) {
        linkWork[link] += problem_.linkSlots[link] == 0 ? 0 : task.seconds / problem_.linkSlots[link];
      }
    }
    for (const double work : groupWork) {
      bounds.busiestQueue = std::max(bounds.busiestQueue, work);
    }
    for (const double work : linkWork) {
      bounds.busiestLink = std::max(bounds.busiestLink, work);
    }
    return bounds;
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  const CostModel& cost_;
  Groups groups_;
  ListProblem problem_;
  std::vector<OpId> opOf_; // by task
  SideTable<OpId, uint32_t> taskOf_;
  Schedule schedule_;
};

} // namespace

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

Schedule makeSchedule(const PlacedGraph& placed, const Machine& machine, const CostModel& cost) {
  return ScheduleMaker(placed, machine, cost).run();
}

} // namespace dfc
