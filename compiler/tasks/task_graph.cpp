#include "compiler/tasks/task_graph.h"

namespace dfc {

void TaskGraph::addEdge(ItemId item, TaskId to) {
  const TaskId from = items[item].source;
  DFC_ASSERT(from < to, "task ids are a topological order");
  tasks[from].successors.push_back({to, item});
  tasks[to].predecessors.push_back({from, item});
}

} // namespace dfc
