#include "compiler/rematerialise/fit_by_repeating.h"

#include "compiler/place/planned_seconds.h"
#include "compiler/rematerialise/rematerialise.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr double tolerance = 1.1; ///< for a share that takes less than its part
/// Of the makespan without a memory limit: a step that takes more waits for memory, and more ops are
/// repeated.
constexpr double longWaits = 1.05;

} // namespace

std::optional<double> fitByRepeating(Placement& placement, const StepOrder& order, const Machine& machine,
                                     const CostModel& cost, const LowerOptions& lowering, double most,
                                     LeastNeed& need) {
  // Of the memory behind parameters; what offsets lose to fragmentation is not known before, nor how long ops
  // wait for memory where little is left.
  std::optional<double> least;
  std::optional<Placement> best;
  std::optional<StepOrder> late;   // with copies of state when they are needed
  double mostShare = useOf(order); // with more, no op has to be repeated
  for (const double share : {0.97, 0.9, 0.8, 0.65, 0.5}) {
    if (share > mostShare) {
      continue;
    }
    auto repeated = rematerialise(placement, order, machine, cost, share);
    if (!repeated) {
      if (!late) {
        late = stepOrder(placement, machine, cost, Sources::WhenNeeded);
      }
      repeated = rematerialise(placement, *late, machine, cost, share);
    }
    if (!repeated) {
      break;
    }
    Placement& made = repeated->placement;
    made.policy += fmt::format("; {} ops computed twice for memory", repeated->ops);
    const StepOrder again = stepOrder(made, machine, cost);
    if (!mayFit(again)) {
      need.note(made, needOf(again, machine));
      mostShare = tolerance * share / useOf(again); // the order takes that much more than the share
      continue;
    }
    const PlacementProblem problem = decided(made, machine, cost, lowering);
    const auto found = plannedSeconds(made, problem, std::min(most, least.value_or(most)));
    if (found && (found->givenUp || (least && found->seconds >= *least))) {
      break; // with a smaller share more is repeated
    }
    if (!found) {
      need.note(made, needOf(again, machine));
    } else {
      const bool isDone = !found->waits || found->seconds <= longWaits * predictedMakespan(made, problem);
      least = found->seconds;
      best = std::move(made);
      if (isDone) {
        break;
      }
    }
  }
  if (best) {
    placement = *std::move(best);
  }
  return least;
}

} // namespace dfc
