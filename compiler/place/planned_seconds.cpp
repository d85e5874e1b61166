#include "compiler/place/planned_seconds.h"

#include "compiler/memory/addressable.h"
#include "compiler/memory/fit_memory.h"
#include "compiler/memory/plan_memory.h"
#include "compiler/schedule/schedule.h"
#include "compiler/simulate/lower_counted.h"
#include "compiler/transfer/insert_transfers.h"

namespace dfc {

std::optional<PlannedSeconds> plannedSeconds(const Placement& placement, const PlacementProblem& problem,
                                             double most) {
  const Machine& machine = problem.machine;
  PlacedGraph placed = insertTransfers(placement, machine);
  if (!checkAddressable(placed, machine).empty()) {
    return std::nullopt;
  }
  Schedule schedule = makeSchedule(placed, machine, problem.cost, formsOf(problem.lowering));
  if (schedule.makespan > most) {
    return PlannedSeconds{schedule.makespan, 0, false, true};
  }
  auto memory = planMemory(placed, schedule, machine);
  if (!memory && hasNarrowReplicas(placed)) {
    placed = insertTransfers(placement, machine, Narrow::CastAnew);
    schedule = makeSchedule(placed, machine, problem.cost, formsOf(problem.lowering));
    memory = planMemory(placed, schedule, machine);
  }
  const bool waits = !memory;
  if (waits) {
    auto fitted = fitMemory(placed, schedule, machine, problem.cost, memory.errors());
    if (!fitted) {
      return std::nullopt;
    }
    schedule = std::move(fitted->schedule);
    memory = std::move(fitted->memory);
  }
  const auto launches = lowerCounted(placed, schedule, *memory, machine, problem.cost, problem.lowering);
  // Of a graph without launches compile() gives the errors.
  return launches ? PlannedSeconds{schedule.steady.seconds, schedule.steady.bound, waits}
                  : PlannedSeconds{schedule.makespan, 0, waits};
}

} // namespace dfc
