// Other task executors, each behind one function: a graph is built once and run many times. The executable
// dfc_executors is separate, so that dfc is linked with none of them.
#pragma once

#include "tools/bench/graphs/dag.h"

#include <functional>
#include <memory>

namespace dfc::bench {

/// A graph of empty tasks in an executor.
class BuiltGraph {
 public:
  virtual ~BuiltGraph() = default;
  virtual void run() = 0; ///< runs all tasks once with two workers, to the end
};

struct Executor {
  std::string program; ///< "Taskflow 3.9.0"
  std::function<std::unique_ptr<BuiltGraph>(const Dag&)> build;
  bool keepsGraph = true; ///< else `run` creates all tasks anew, and `build` has no time of its own
};

/// The executors whose libraries were found at configuration.
std::vector<Executor> allExecutors();
inline constexpr int workers = 2;

/// The names of the others.
std::vector<std::string> missingExecutors();

Executor taskflowExecutor();
Executor tbbExecutor();
Executor starpuExecutor();

} // namespace dfc::bench
