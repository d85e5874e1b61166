// Policy `peft`: PEFT over the cost model, with contention on links, where that is well ahead of one device.
#include "compiler/place/ahead_of_one_device.h"
#include "compiler/place/task_graph_of.h"
#include "compiler/tasks/peft.h"

namespace dfc {

Placement placeByPeft(const PlacementProblem& problem) {
  const TensorTasks tasks = taskGraphOf(problem, allDevices(problem.machine), Copies::Explicit);
  return aheadOfOneDevice(placementOf(peft(tasks.graph), tasks, problem, "peft"), problem);
}

} // namespace dfc
