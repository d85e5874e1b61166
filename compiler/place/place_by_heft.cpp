// Policy `heft`: HEFT over the cost model, without contention on links, where that is well ahead of one
// device.
#include "compiler/place/ahead_of_one_device.h"
#include "compiler/place/task_graph_of.h"
#include "compiler/tasks/heft.h"

namespace dfc {

Placement placeByHeft(const PlacementProblem& problem) {
  const TensorTasks tasks = taskGraphOf(problem, allDevices(problem.machine), Copies::Implied);
  return aheadOfOneDevice(placementOf(heft(tasks.graph), tasks, problem, "heft"), problem);
}

} // namespace dfc
