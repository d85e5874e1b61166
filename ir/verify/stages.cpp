// verifyStages: all verifiers of a plan in sequence; facts that two of them need are computed once.
#include "ir/verify/parts.h"

namespace dfc {

Diagnostics verifyStages(const PlacedGraph& placed, const Schedule& schedule, const MemoryPlan& memory,
                         const Machine& machine) {
  if (Diagnostics errors = verifyMachine(machine); !errors.empty()) {
    return errors;
  }
  if (Diagnostics errors = verifyPlacedGraph(placed, machine); !errors.empty()) {
    return errors;
  }
  if (Diagnostics errors = scheduleShape(schedule, placed, machine); !errors.empty()) {
    return errors;
  }
  const HappensBefore before(schedule);
  if (Diagnostics errors = scheduleOrder(schedule, placed, machine, before); !errors.empty()) {
    return errors;
  }
  return memoryPlaces(memory, schedule, placed, machine, before);
}

} // namespace dfc
