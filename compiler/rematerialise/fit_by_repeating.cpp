#include "compiler/rematerialise/fit_by_repeating.h"

#include "compiler/place/planned_seconds.h"
#include "compiler/rematerialise/rematerialise.h"

#include <fmt/format.h>

namespace dfc {
namespace {

constexpr double tolerance = 1.1; ///< for a share that takes less than its part

} // namespace

std::optional<double> fitByRepeating(Placement& placement, const StepOrder& order, const Machine& machine,
                                     const CostModel& cost, const LowerOptions& lowering, double most) {
  // Of the memory behind parameters; what offsets lose to fragmentation is not known before.
  double mostShare = 1;
  for (const double share : {0.97, 0.9, 0.8, 0.65}) {
    if (share > mostShare) {
      continue;
    }
    auto repeated = rematerialise(placement, order, machine, cost, share);
    if (!repeated) {
      break;
    }
    const Placement& made = repeated->placement;
    const StepOrder again = stepOrder(made, machine, cost);
    if (!mayFit(again)) {
      mostShare = tolerance * share / useOf(again); // the order takes that much more than the share
      continue;
    }
    const auto found = plannedSeconds(made, decided(made, machine, cost, lowering), most);
    if (found && found->givenUp) { // with a smaller share more is repeated
      break;
    }
    if (found) {
      placement = std::move(repeated->placement);
      placement.policy += fmt::format("; {} ops computed twice for memory", repeated->ops);
      return found->seconds;
    }
  }
  return std::nullopt;
}

} // namespace dfc
