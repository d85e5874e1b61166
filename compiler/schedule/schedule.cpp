#include "compiler/schedule/schedule.h"

#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/schedule_problem.h"

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

namespace {

// A list schedule is as good as its priorities. What the author scoped together goes together where that is
// no slower: it hands over whole boxes, so that what waits for one of them can start (and its operands die
// sooner).
// Nothing is tried any more where the first order already is as short as any can be.
ListResult bestOrder(const ListProblem& problem) {
  constexpr double rounding = 1e-9;
  ListResult byBox = listSchedule(problem, boxRanks(problem));
  if (byBox.makespan <= lowerBounds(problem).best() * (1 + rounding)) {
    return byBox;
  }
  ListResult byTask = listSchedule(problem);
  return byTask.makespan < byBox.makespan ? std::move(byTask) : std::move(byBox);
}

} // namespace

Schedule makeSchedule(const PlacedGraph& placed, const Machine& machine, const CostModel& cost) {
  const ScheduleProblem problem = scheduleProblem(placed, machine, cost);
  return scheduleOf(problem, bestOrder(problem.list));
}

double predictedMakespan(const PlacedGraph& placed, const Machine& machine, const CostModel& cost) {
  return bestOrder(scheduleProblem(placed, machine, cost).list).makespan;
}

} // namespace dfc
