// Sealing: the only way an Executable comes to be, whether from the compiler or from a file.
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"

namespace dfc {

Result<Executable> Executable::seal(PlacedGraph placed, Schedule schedule, MemoryPlan memory,
                                    LaunchPlan launches, Machine machine, std::string policy) {
  if (Diagnostics errors = verifyStages(placed, schedule, memory, machine); !errors.empty()) {
    return errors;
  }
  if (Diagnostics errors = verifyLaunchPlan(launches, placed, schedule, memory, machine); !errors.empty()) {
    return errors;
  }
  return Executable(std::move(placed), std::move(schedule), std::move(memory), std::move(launches),
                    std::move(machine), std::move(policy));
}

Result<Executable> Executable::preparedBy(Executable preparation) const {
  if (Diagnostics errors = verifyPreparation(preparation, *this); !errors.empty()) {
    return errors;
  }
  Executable both = *this;
  both.preparation_ = std::make_shared<const Executable>(std::move(preparation));
  return both;
}

Result<Executable> Executable::seal(PlacedGraph placed, Schedule schedule, MemoryPlan memory, Machine machine,
                                    std::string policy) {
  return seal(std::move(placed), std::move(schedule), std::move(memory), LaunchPlan(), std::move(machine),
              std::move(policy));
}

} // namespace dfc
