// TaskPlacer: places tasks one after the other in a given order, each as early as it can, into idle gaps
// where one fits; its copies are booked on the links before it (insertion-based list scheduling, as in
// Topcuoglu, Hariri and Wu 2002, with links as further machines: Sinnen and Sousa, "Communication contention
// in task scheduling", IEEE TPDS 16(6), 2005). HEFT, PEFT and the local search differ in order and rule
// alone.
#pragma once

#include "compiler/tasks/task_schedule.h"
#include "compiler/tasks/timeline.h"

#include <llvm/ADT/ArrayRef.h>

#include <optional>

namespace dfc {

/// Where each task goes: to `fixed[task]`, or, where that is anyDevice, where its end plus `penalty` plus
/// `copyWeight` times the seconds of its copies is smallest, the first device on a tie.
struct PlacementRule {
  llvm::ArrayRef<uint32_t> fixed; ///< by task; empty: every task is free
  llvm::ArrayRef<double> penalty; ///< seconds, a row of devices a task; empty for 0
  llvm::ArrayRef<double> tails; ///< by task: seconds at least between its end and the end of all; empty for 0
  double limit = infiniteSeconds; ///< stops once no makespan below this is possible
  double copyWeight = 0;          ///< weight of the seconds on links in the choice of the device
};

class TaskPlacer {
 public:
  explicit TaskPlacer(const TaskGraph& graph);

  /// Places all tasks; the makespan in seconds. Infinite where it gave up, or where no path leads to any
  /// device of a task. `order`: topological. Work: tasks x (devices x predecessors + log of the gaps).
  double run(llvm::ArrayRef<TaskId> order, const PlacementRule& rule);
  double run(llvm::ArrayRef<TaskId> order) { return run(order, PlacementRule()); }
  /// Of the last run.
  TaskSchedule schedule() const;
  llvm::ArrayRef<TaskPlacement> placements() const { return placed_; }
  llvm::ArrayRef<TaskTransfer> transfers() const { return transfers_; }

 private:
  struct Choice {
    uint32_t device, queue = 0;
    double start = 0, end = infiniteSeconds;
  };
  struct Option {
    double value; ///< end and penalty without contention
    double penalty;
    uint32_t device;
    bool operator<(const Option& other) const {
      return value < other.value || (value == other.value && device < other.device);
    }
  };
  struct Need {
    double ready; ///< without contention
    ItemId item;
    uint32_t from; ///< the device that it is copied from
    double made;   ///< when it is there
  };
  struct Tried {
    uint32_t link;
    double start, end;
  };
  struct Booked {
    Timeline* slot;
    double start, end;
  };

  void findDeadEnds();
  void reset();
  bool place(TaskId task, const PlacementRule& rule);
  bool placeFreely(TaskId task, const PlacementRule& rule, Choice& best);
  void consider(TaskId task, const Option& option, Choice& best, double& least);
  double copySeconds(TaskId task, uint32_t device) const;
  double readyTime(TaskId task, uint32_t device);
  double addNeed(const TaskEdge& edge, uint32_t device);
  void sortNeeds();
  double copyNeeds(uint32_t device);
  double tryNeeds(uint32_t device);
  void copy(ItemId item, llvm::ArrayRef<uint32_t> path);
  double fitHop(const TaskHop& hop, double ready, double seconds);
  void undoCopies(size_t transfers);
  void fitQueue(Choice& choice, double ready, double seconds);
  void commit(TaskId task, const Choice& choice);
  bool mayFollow(TaskId task, uint32_t device) const;
  uint32_t homeOf(TaskId floating, uint32_t wish) const;
  void settle(TaskId task, const Choice& choice);
  void settleTheRest();
  double& arrival(ItemId item, uint32_t device) {
    return arrivals_[item.index() * graph_.deviceCount() + device];
  }

  const TaskGraph& graph_;
  bool floats_ = false; // whether a task is floating
  /// Tasks x devices: whether no route leads from there to the devices of a successor; empty where every
  /// device reaches every other.
  std::vector<char> deadEnds_;
  bool simple_ = false; // whether paths are single routes, over links of one slot
  std::vector<TaskPlacement> placed_;
  std::vector<std::vector<Timeline>> queues_; // by device
  std::vector<std::vector<Timeline>> links_;  // by link: a timeline a slot
  std::vector<double> arrivals_; // items x devices; infinite where the device has no copy of the item
  std::vector<TaskTransfer> transfers_;
  std::vector<Booked> booked_;
  std::vector<Need> needs_; // of the task that is being placed, on one device
  std::vector<Tried> tried_;
  std::vector<Option> options_;
  std::vector<Timeline*> slots_; // of the links of the last hop that was fitted
  double makespan_ = 0;
};

} // namespace dfc
