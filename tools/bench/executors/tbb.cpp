// oneTBB's flow graph: a continue node for each task, messages along the edges; tasks without predecessors
// are started by a message.
#include "tools/bench/executors/executors.h"

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/version.h>

#include <deque>

namespace dfc::bench {
namespace {

using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

class Graph final : public BuiltGraph {
 public:
  explicit Graph(const Dag& dag) {
    for (uint32_t task = 0; task < dag.count(); ++task) {
      nodes_.emplace_back(graph_, [](const tbb::flow::continue_msg&) {});
      if (dag.first[task] == dag.first[task + 1]) {
        starts_.push_back(&nodes_.back());
      }
      for (uint32_t edge = dag.first[task]; edge < dag.first[task + 1]; ++edge) {
        tbb::flow::make_edge(nodes_[dag.before[edge]], nodes_.back());
      }
    }
  }
  void run() override {
    for (Node* start : starts_) {
      start->try_put(tbb::flow::continue_msg());
    }
    graph_.wait_for_all();
  }

 private:
  tbb::global_control two_{tbb::global_control::max_allowed_parallelism, workers};
  tbb::flow::graph graph_;
  std::deque<Node> nodes_; // stable addresses
  std::vector<Node*> starts_;
};

} // namespace

Executor tbbExecutor() {
  return {std::string("oneTBB flow graph ") + TBB_runtime_version(),
          [](const Dag& dag) { return std::make_unique<Graph>(dag); }};
}

} // namespace dfc::bench
