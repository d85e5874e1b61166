// List scheduling on abstract tasks: at every moment, on every idle queue, the ready task with the highest
// upward rank starts, if the links that it needs have a free slot. Contention on queues and links is
// therefore part of the plan; so is that tasks share the device on which they run at once. Source: Graham
// 1969 (list scheduling); ranks as in HEFT (Topcuoglu et al. 2002) with the durations of the placement.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace dfc {

inline constexpr uint32_t noTask = std::numeric_limits<uint32_t>::max();
inline constexpr uint32_t noMicroBatch = std::numeric_limits<uint32_t>::max();

struct ListTask {
  double seconds = 0;
  uint32_t group = 0;                   ///< the queues that can run it: any queue of this group
  llvm::SmallVector<uint32_t, 2> links; ///< each held for the whole duration
  llvm::SmallVector<uint32_t, 4>
      before;                ///< tasks that must have ended; each smaller than the task's own index
  uint32_t scope = 0;        ///< tasks of one group and scope belong together: see scopeRanks
  int64_t netAllocation = 0; ///< bytes that it allocates minus bytes that it frees, where memory is short
  double utilisation = 0;    ///< of its group's device, while it runs alone: see processor_sharing.h
  double traffic = 0;        ///< the same of the bandwidth of a memory
  uint32_t memory = 0;       ///< which one, where there is traffic
  uint32_t microBatch = noMicroBatch; ///< from 0 on: see microBatchRanks
  bool late = false;  ///< its group runs it behind all tasks that are not; none of those comes after it
  bool early = false; ///< it takes no time and has no predecessors: its group runs it before all others
};

struct ListProblem {
  std::vector<ListTask> tasks;
  std::vector<uint32_t> groupQueues; ///< queues of each group, at least 1
  std::vector<uint32_t> linkSlots;   ///< 0: any number at once
  std::vector<double> groupBegins;   ///< seconds before which a group starts no task; empty for 0
  uint32_t memories = 0;             ///< whose bandwidth tasks share
  double beginOf(uint32_t group) const { return groupBegins.empty() ? 0 : groupBegins[group]; }
};

struct ListResult {
  std::vector<double> start, end; ///< end - start is more than the task's seconds where others slowed it down
  std::vector<uint32_t> queue;    ///< within the task's group
  std::vector<uint32_t> order;    ///< all tasks by start; a topological order
  double makespan = 0;
};

/// The successors of each task, in ascending order, as a compressed sparse row of two arrays: large problems
/// have millions of edges.
class Successors {
 public:
  explicit Successors(const ListProblem& problem);
  llvm::ArrayRef<uint32_t> operator[](uint32_t task) const {
    return llvm::ArrayRef(tasks_).slice(first_[task], first_[task + 1] - first_[task]);
  }

 private:
  std::vector<uint32_t> first_, tasks_;
};
/// What a queue does while every ready task has a lower priority than one that arrives soon.
enum class IdleQueues : uint8_t {
  TakeAny, ///< starts the ready task
  MayWait, ///< stays idle where that delays the urgent task more than the idle time
};

/// `priority`: by task, such as a row of priorities.def; among ready tasks the early ones go first, then
/// those of the highest priority, then the highest upward rank, then the smallest net allocation, then the
/// smallest index.
ListResult listSchedule(const ListProblem& problem, const std::vector<double>& priority,
                        IdleQueues idle = IdleQueues::TakeAny);
/// By upward rank alone.
ListResult listSchedule(const ListProblem& problem);

/// A further resource, beside queues and links, that may hold ready tasks back (memory: see
/// compiler/memory/admission_control.h). Whether it admits a task may change whenever a task starts or ends.
/// `late` and `early` are ignored then: other tasks may wait for the memory that a deferred task holds.
class AdmissionPolicy {
 public:
  virtual ~AdmissionPolicy() = default;
  /// Called for a ready task whose queue and links are free. True admits the task, which then starts.
  virtual bool start(uint32_t task) = 0;
  virtual void end(uint32_t task) = 0;
  /// The task that is asked for even behind many refused tasks of higher priority; noTask for none.
  virtual uint32_t next() const = 0;
};
/// None where `policy` never admits some task.
std::optional<ListResult> listSchedule(const ListProblem& problem, const std::vector<double>& priority,
                                       AdmissionPolicy& policy);

} // namespace dfc
