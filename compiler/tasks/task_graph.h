// TaskGraph: a computation as planners see it: a weighted DAG with a duration for every task on every device,
// and the links that its data travels over. It is made from a tensor graph (compiler/place/task_graph_of.h)
// or from a task file (file/tasks_file.h), so what is proven on published instances holds for tensors.
#pragma once

#include "ir/base/ids.h"
#include "ir/base/table.h"

#include <llvm/ADT/SmallVector.h>

#include <limits>
#include <vector>

namespace dfc {

using TaskId = Id<struct TaskTag>;
using ItemId = Id<struct ItemTag>;

inline constexpr double infiniteSeconds =
    std::numeric_limits<double>::infinity(); ///< a time that does not come

struct TaskEdge {
  TaskId other;
  ItemId item; ///< the data that the edge carries
};

struct TaskRow {
  llvm::SmallVector<double, 4> seconds; ///< by device; infinity where the task may not run
  llvm::SmallVector<TaskEdge, 2> predecessors, successors;
  /// A floating task (a parameter) takes no time and no queue; it is placed where its first placed successor
  /// runs.
  bool floating = false;
  /// A task (the assign of a parameter) that must run on the device of this floating task.
  TaskId follows = {};
};

/// Data that a task makes. One copy on a device serves every successor there.
struct TaskItem {
  TaskId source;
  double bytes = 0;
};

/// The cost of a copy between two devices without contention: latency + bytes * secondsPerByte.
struct LinkCost {
  double latency = 0, secondsPerByte = 0;
  double seconds(double bytes) const { return latency + bytes * secondsPerByte; }
};

/// A direct route: a copy over it holds a slot of every link for all of its time.
struct TaskHop {
  uint32_t from = 0, to = 0; ///< devices
  LinkCost cost;
  llvm::SmallVector<uint32_t, 2> links; ///< those of limited slots
};

/// Task ids are a topological order.
struct TaskGraph {
  Table<TaskId, TaskRow> tasks;
  Table<ItemId, TaskItem> items;
  llvm::SmallVector<uint32_t, 4> queues; ///< by device: how many tasks run at once
  llvm::SmallVector<double, 4> begins;   ///< by device: seconds before which it runs nothing; empty for 0
  std::vector<LinkCost> communication;   ///< from-major matrix, devices x devices; infinite without a path
  /// Explicit copies: the routes, and a from-major matrix of the chain of routes (by index) between two
  /// devices, empty where there is none. Both are empty where copies are implied, as no link is contended: a
  /// copy then takes the time that `communication` states.
  std::vector<TaskHop> hops;
  std::vector<llvm::SmallVector<uint32_t, 2>> paths;
  std::vector<uint32_t> linkSlots; ///< by link: copies at once, at least 1

  size_t deviceCount() const { return queues.size(); }
  bool hasExplicitCopies() const { return !paths.empty(); }
  double transferSeconds(size_t from, size_t to, double bytes) const {
    return from == to ? 0 : communication[from * deviceCount() + to].seconds(bytes);
  }
  double bytesOf(const TaskEdge& edge) const { return items[edge.item].bytes; }
  ItemId addItem(TaskId source, double bytes) { return items.add({source, bytes}); }
  /// An edge that carries an item of `items[item].source`.
  void addEdge(ItemId item, TaskId to);
  /// An edge with an item of its own.
  void addEdge(TaskId from, TaskId to, double bytes) { addEdge(addItem(from, bytes), to); }
};

} // namespace dfc
