#include "compiler/rematerialise/fit_placement.h"

#include "compiler/place/planned_seconds.h"
#include "compiler/rematerialise/rematerialise.h"

#include <fmt/format.h>

namespace dfc {

std::optional<double> fitPlacement(Placement& placement, const Machine& machine, const CostModel& cost,
                                   const LowerOptions& lowering) {
  const auto planned = [&](const Placement& one) {
    return plannedSeconds(
        one, {one.graph, machine, cost, SideTable<OpId, DeviceId>(one.graph.opCount()), lowering});
  };
  if (const auto found = planned(placement)) {
    return found->seconds;
  }
  // Of the memory behind parameters; what offsets lose to fragmentation is not known before.
  for (const double share : {0.97, 0.9, 0.8, 0.65}) {
    auto repeated = rematerialise(placement, machine, cost, share);
    if (!repeated) {
      break;
    }
    if (const auto found = planned(repeated->placement)) {
      placement = std::move(repeated->placement);
      placement.policy += fmt::format("; {} ops computed twice for memory", repeated->ops);
      return found->seconds;
    }
  }
  return std::nullopt;
}

} // namespace dfc
