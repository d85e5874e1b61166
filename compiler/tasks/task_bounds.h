// taskBounds: lower bounds on the makespan of a task graph, which hold for every placement and every order.
#pragma once

#include "compiler/tasks/task_graph.h"

#include <algorithm>

namespace dfc {

/// Seconds.
struct TaskBounds {
  double path = 0; ///< the longest chain, each task and copy as fast as its devices allow
  double load = 0; ///< all work, spread over the devices as a linear program would
  /// For a head h and a tail t: h, t and the load of the tasks whose heads are at least h and tails at least
  /// t; 0 for large graphs.
  double interval = 0;
  double best() const { return std::max({path, load, interval}); }
};

/// For each task and device, a row of devices a task: the least seconds that must pass before the task can
/// start there, and between its end there and the makespan. Infinite where the task cannot run or be
/// reached.
struct HeadsAndTails {
  std::vector<double> heads, tails;
};
HeadsAndTails headsAndTails(const TaskGraph& graph);

/// Rounded down a little, so that the rounding of sums keeps them bounds. The load bound is the linear
/// program of Lenstra, Shmoys and Tardos (1990) for unrelated machines, by its dual, of which every point is
/// a bound.
TaskBounds taskBounds(const TaskGraph& graph);

} // namespace dfc
