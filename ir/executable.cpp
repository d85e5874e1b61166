// Sealing: the only way an Executable comes to be, whether from the compiler or from a file.
#include "ir/executable.h"

#include "ir/verify/verify.h"

namespace dfc {

Result<Executable> Executable::seal(PlacedGraph placed, Schedule schedule, MemoryPlan memory, Machine machine,
                                    std::string policy) {
  // Each stage is checked against those before it, so the first that fails has the last word.
  Diagnostics errors = verifyMachine(machine);
  if (errors.empty()) {
    errors = verifyPlacedGraph(placed, machine);
  }
  if (errors.empty()) {
    errors = verifySchedule(schedule, placed, machine);
  }
  if (errors.empty()) {
    errors = verifyMemoryPlan(memory, schedule, placed, machine);
  }
  if (!errors.empty()) {
    return errors;
  }
  Executable sealed;
  sealed.placed_ = std::move(placed);
  sealed.schedule_ = std::move(schedule);
  sealed.memory_ = std::move(memory);
  sealed.machine_ = std::move(machine);
  sealed.policy_ = std::move(policy);
  return sealed;
}

} // namespace dfc
