// List scheduling on abstract tasks: at every moment, on every idle lane, the ready task with the highest
// upward rank starts, if the links that it needs have a free slot. Contention on queues and links is
// therefore part of the plan. Source: Graham 1969 (list scheduling); ranks as in HEFT (Topcuoglu et al. 2002)
// with the durations of the placement.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <vector>

namespace dfc {

struct ListTask {
  double seconds = 0;
  uint32_t group = 0;                   ///< the queues that can run it: any lane of this group
  llvm::SmallVector<uint32_t, 2> links; ///< each held for the whole duration
  llvm::SmallVector<uint32_t, 4>
      before;       ///< tasks that must have ended; each smaller than the task's own index
  uint32_t box = 0; ///< tasks of one group and box belong together: see boxRanks
};

struct ListProblem {
  std::vector<ListTask> tasks;
  std::vector<uint32_t> groupLanes; ///< lanes of each group, at least 1
  std::vector<uint32_t> linkSlots;  ///< 0: any number at once
};

struct ListResult {
  std::vector<double> start, end;
  std::vector<uint32_t> lane;  ///< within the task's group
  std::vector<uint32_t> order; ///< all tasks by start; a topological order
  double makespan = 0;
};

/// Longest way from the start of each task to the end of the computation, in seconds.
std::vector<double> upwardRanks(const ListProblem& problem);
/// The rank of a task's box: the highest upward rank among the tasks of the same group and box.
std::vector<double> boxRanks(const ListProblem& problem);
/// `priority`: by task; among ready tasks the highest goes first, then the highest upward rank, then the
/// smallest index.
ListResult listSchedule(const ListProblem& problem, const std::vector<double>& priority);
/// By upward rank alone.
ListResult listSchedule(const ListProblem& problem);

} // namespace dfc
