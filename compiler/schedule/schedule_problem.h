// ScheduleProblem: a placed graph as the list scheduler sees it: abstract tasks with durations, queues and
// links, and the way back from a list schedule to steps on queues. Durations: the cost model for
// computations, the machine's routes for transfers. A feed that is prefetched during the step before takes
// the time of a copy within the GPU, and its staging none (ir/plan/feeds.h): the order is made for the steady
// state. In a step by itself GPUs that share a link to the host get their feeds one after another; with an
// order made for that step they would wait for one another in all later ones.
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/schedule/list_schedule.h"
#include "ir/plan/schedule.h"

namespace dfc {

struct ScheduleProblem {
  ListProblem list;                 ///< tasks in the order of their ops
  std::vector<OpId> opOf;           ///< by task
  SideTable<OpId, uint32_t> taskOf; ///< noTask for resident ops
  Table<QueueId, QueueRow> queues;  ///< without steps
  std::vector<uint32_t> readerOf;   ///< by task: of a read at a peer the task that reads; else noTask
  double feeds = 0; ///< seconds that staging, or prefetching over one link, takes: no step is shorter
  std::vector<QueueId>
      firstQueueOf; ///< by group, ascending: the queue of its queue 0; its other queues' follow
  uint32_t groupOf(QueueId queue) const;
};

/// What lowering makes of steps on GPUs.
struct LaunchForms {
  /// Of the transfers of one reader that become reads at peers (`smallPeerReads`) the first takes the time of
  /// a copy; the others are made at once with it and take next to no time. None holds a link.
  bool peerReads = false;
  /// Small ops share launches: updates of small state come last (late_updates.h).
  bool merged = false;
};

ScheduleProblem scheduleProblem(const PlacedGraph& placed, const Machine& machine, const CostModel& cost,
                                LaunchForms forms = {});

/// The problem of a schedule with `seconds` as the durations of its steps, feeds' transfers among them. A
/// transfer of duration 0 holds no link.
ScheduleProblem scheduleProblem(const Schedule& schedule, const SideTable<StepId, double>& seconds,
                                const PlacedGraph& placed, const Machine& machine, const CostModel& cost);

/// `before` has to end before `after` starts.
struct TaskOrdering {
  uint32_t before, after;
};

/// `lowerBounds` of the problem, in which reads at peers take no time of their own.
LowerBounds boundsOf(const ScheduleProblem& problem);

/// The steps of a list schedule with the waits that the tasks' predecessors and `orderings` ask for, pruned.
/// Assumes that `result` keeps the orderings. `bounds`: `boundsOf` the problem.
Schedule scheduleOf(const ScheduleProblem& problem, const ListResult& result, const LowerBounds& bounds,
                    llvm::ArrayRef<TaskOrdering> orderings = {});

} // namespace dfc
