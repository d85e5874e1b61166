// Task executors of others, each behind one function: build the graph once, run it again and again. A program
// of its own (dfc_executors), so that dfc itself is linked with none of them.
#pragma once

#include "tools/bench/graphs/dag.h"

#include <functional>
#include <memory>

namespace dfc::bench {

/// A graph of empty tasks in somebody's executor.
class BuiltGraph {
 public:
  virtual ~BuiltGraph() = default;
  virtual void run() = 0; ///< all tasks once, with two workers, to the end
};

struct Executor {
  std::string who; ///< "Taskflow 3.9.0"
  std::function<std::unique_ptr<BuiltGraph>(const Dag&)> build;
  bool keepsGraph = true; ///< else `run` makes all its tasks anew, and `build` takes no time worth telling
};

/// What this build has: those whose libraries were found when it was configured.
std::vector<Executor> allExecutors();
inline constexpr int workers = 2;

/// The names of those that it has not.
std::vector<std::string> missingExecutors();

Executor taskflowExecutor();
Executor tbbExecutor();
Executor starpuExecutor();

} // namespace dfc::bench
