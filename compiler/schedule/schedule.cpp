#include "compiler/schedule/schedule.h"

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

// A list schedule is as good as its priorities. What the author scoped together goes together where that is
// no slower: it hands over whole boxes, so that what waits for one of them can start (and its operands die
// sooner).
Schedule makeSchedule(const PlacedGraph& placed, const Machine& machine, const CostModel& cost) {
  const ScheduleProblem problem = scheduleProblem(placed, machine, cost);
  const ListResult byBox = listSchedule(problem.list, boxRanks(problem.list));
  const ListResult byTask = listSchedule(problem.list);
  return scheduleOf(problem, byTask.makespan < byBox.makespan ? byTask : byBox);
}

} // namespace dfc
