#include "compiler/rematerialise/fit_by_repeating.h"

#include "compiler/place/planned_seconds.h"
#include "compiler/rematerialise/rematerialise.h"

#include <fmt/format.h>

namespace dfc {

std::optional<double> fitByRepeating(Placement& placement, const Machine& machine, const CostModel& cost,
                                     const LowerOptions& lowering) {
  // Of the memory behind parameters; what offsets lose to fragmentation is not known before.
  for (const double share : {0.97, 0.9, 0.8, 0.65}) {
    auto repeated = rematerialise(placement, machine, cost, share);
    if (!repeated) {
      break;
    }
    const Placement& made = repeated->placement;
    if (const auto found = plannedSeconds(made, decided(made, machine, cost, lowering))) {
      placement = std::move(repeated->placement);
      placement.policy += fmt::format("; {} ops computed twice for memory", repeated->ops);
      return found->seconds;
    }
  }
  return std::nullopt;
}

} // namespace dfc
