// Taskflow: a task for each number, an edge for each predecessor.
#include "tools/bench/executors/executors.h"

#include <taskflow/taskflow.hpp>

namespace dfc::bench {
namespace {

tf::Executor& executor() {
  static tf::Executor two(workers);
  return two;
}

class Graph final : public BuiltGraph {
 public:
  explicit Graph(const Dag& dag) {
    std::vector<tf::Task> tasks;
    for (uint32_t task = 0; task < dag.count(); ++task) {
      tasks.push_back(flow_.emplace([] {}));
      for (uint32_t edge = dag.first[task]; edge < dag.first[task + 1]; ++edge) {
        tasks[dag.before[edge]].precede(tasks[task]);
      }
    }
  }
  void run() override { executor().run(flow_).wait(); }

 private:
  tf::Taskflow flow_;
};

} // namespace

Executor taskflowExecutor() {
  return {std::string("Taskflow ") + tf::version(),
          [](const Dag& dag) { return std::make_unique<Graph>(dag); }};
}

} // namespace dfc::bench
