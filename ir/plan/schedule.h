// Schedule: every op that does work as a step on a queue, queues in order, and the waits between queues.
// Waits are pruned: one that follows from queue order and other waits is left out. Predicted times in
// seconds.
#pragma once

#include "ir/plan/placed_graph.h"

namespace dfc {

enum class QueueKind : uint8_t { Compute, CopyIn, CopyOut, Peer };
std::string_view name(QueueKind kind); ///< "compute", "copyIn", "copyOut", "peer"

struct QueueRow {
  DeviceId device;
  QueueKind kind = QueueKind::Compute;
  uint32_t index = 0;                 ///< among the device's queues of this kind
  llvm::SmallVector<StepId, 0> steps; ///< in the order of execution
};

struct StepRow {
  OpId op;
  QueueId queue;
  uint32_t position = 0;              ///< in its queue
  llvm::SmallVector<StepId, 2> waits; ///< steps of other queues that must have ended; at most one a queue
  double start = 0, end = 0;          ///< predicted
  /// The fraction of its device's computing power, 0 to 1, that it uses while it runs alone. Steps that run
  /// at once on one device are slowed down where their utilisations sum to more than 1. So are steps that
  /// share the bandwidth of a CPU's memory (ir/plan/memory_traffic.h).
  double utilisation = 0;
  double slowed = 0; ///< seconds of `end - start` beyond its duration alone
  double alone() const { return end - start - slowed; }
};

/// Proven lower bounds on the makespan of this placed graph on this machine (no schedule of it can be
/// shorter).
struct LowerBounds {
  double criticalPath = 0; ///< longest chain of ops and transfers
  /// The largest one-machine bound of a device's compute queues together, of a copy queue, or of the
  /// bandwidth of a CPU's memory (ir/plan/memory_traffic.h): its work perfectly divided, each task between
  /// the chains that lead to it and follow it (compiler/schedule/lower_bounds.h).
  double busiestQueue = 0;
  double busiestLink = 0; ///< the same of a link and its transfers
  double best() const;    ///< the largest
};

/// A step among many, in the steady state: the feeds of the next step are staged and prefetched meanwhile
/// (ir/plan/feeds.h). This is what a measured time of many steps compares with.
struct SteadyStep {
  double seconds = 0; ///< predicted; at most the makespan
  double bound = 0;   ///< seconds that no order of the steps stays below; at most `seconds`
};

struct Schedule {
  Table<QueueId, QueueRow> queues;
  Table<StepId, StepRow> steps; ///< in the order of predicted start: a topological order of waits and queues
  SideTable<OpId, StepId> stepOf; ///< invalid for resident ops
  double makespan = 0;            ///< of one step by itself, its feeds first
  LowerBounds bounds;             ///< on the makespan
  SteadyStep steady;
  std::string nameOf(QueueId queue, const Machine& machine) const; ///< "gpu0 copyIn", "cpu0 compute 1"
};

} // namespace dfc
