// Sealing: the only way an Executable comes to be, whether from the compiler or from a file.
#include "ir/plan/executable.h"

#include "ir/verify/verify.h"

namespace dfc {

Result<Executable> Executable::seal(PlacedGraph placed, Schedule schedule, MemoryPlan memory, Machine machine,
                                    std::string policy) {
  if (Diagnostics errors = verifyStages(placed, schedule, memory, machine); !errors.empty()) {
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
