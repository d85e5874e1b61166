// Predicted times of a schedule: a step starts when its predecessors have ended, steps are numbered by their
// start, the makespan is the last end, and no lower bound is above it. In the steady state a step takes at
// least its bound and at most the makespan.
#include "ir/verify/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

class TimeVerifier {
 public:
  TimeVerifier(const Schedule& schedule, const PlacedGraph& placed, Findings& findings)
      : schedule_(schedule), placed_(placed), findings_(findings) {}

  void run() {
    double last = 0;
    for (const StepRow& row : schedule_.steps) {
      last = std::max(last, row.end);
    }
    slack_ = 1e-9 * last;
    if (!std::isfinite(last) || !(std::abs(schedule_.makespan - last) <= slack_)) {
      findings_.add(
          fmt::format("the makespan is {} seconds, but the last step ends at {}", schedule_.makespan, last));
      return;
    }
    checkBounds();
    checkSteadyStep();
    double before = 0;
    for (const StepId step : schedule_.steps.ids()) {
      checkTime(step, before);
      before = schedule_.steps[step].start;
    }
  }

 private:
  std::string nameOf(StepId step) const {
    return std::string(placed_.graph.nameOf(schedule_.steps[step].op));
  }

  void checkBounds() {
    const LowerBounds& bounds = schedule_.bounds;
    for (const auto& [what, bound] :
         {std::pair("critical path", bounds.criticalPath), std::pair("busiest queue", bounds.busiestQueue),
          std::pair("busiest link", bounds.busiestLink)}) {
      if (!(bound >= 0) || !(bound <= schedule_.makespan + slack_)) {
        findings_.add(fmt::format("the lower bound by the {} is {} seconds, the schedule takes {}", what,
                                  bound, schedule_.makespan));
      }
    }
  }

  void checkSteadyStep() {
    const SteadyStep& steady = schedule_.steady;
    if (!(steady.bound >= 0) || !(steady.bound <= steady.seconds + slack_) ||
        !(steady.seconds <= schedule_.makespan + slack_)) {
      findings_.add(
          fmt::format("in the steady state a step takes {} seconds and at least {}, one by itself {}",
                      steady.seconds, steady.bound, schedule_.makespan));
    }
  }

  void checkTime(StepId step, double startOfLast) {
    const StepRow& row = schedule_.steps[step];
    if (!(row.start >= 0) || !(row.end >= row.start)) {
      findings_.at(row.op, fmt::format("op '{}' is predicted from {} to {} seconds", nameOf(step), row.start,
                                       row.end));
    } else if (!(row.slowed >= 0) || !(row.slowed <= row.end - row.start + slack_)) {
      findings_.at(row.op, fmt::format("op '{}' takes {} seconds, {} of them because others slow it down",
                                       nameOf(step), row.end - row.start, row.slowed));
    }
    if (!(row.utilisation >= 0) || !(row.utilisation <= 1)) {
      findings_.at(row.op, fmt::format("op '{}' uses {} of its device", nameOf(step), row.utilisation),
                   "a utilisation is from 0 to 1");
    }
    if (row.start < startOfLast - slack_) {
      findings_.at(
          row.op,
          fmt::format("op '{}' is predicted to start before the step with the id before it", nameOf(step)),
          "steps are numbered in the order of their predicted start");
    }
    llvm::SmallVector<StepId, 4> sources(row.waits.begin(), row.waits.end());
    if (row.position > 0) {
      sources.push_back(schedule_.queues[row.queue].steps[row.position - 1]);
    }
    for (const StepId source : sources) {
      if (row.start < schedule_.steps[source].end - slack_) {
        findings_.at(row.op,
                     fmt::format("op '{}' is predicted to start at {} seconds, before '{}' ends at {}",
                                 nameOf(step), row.start, nameOf(source), schedule_.steps[source].end));
      }
    }
  }

  const Schedule& schedule_;
  const PlacedGraph& placed_;
  Findings& findings_;
  double slack_ = 0;
};

} // namespace

void checkScheduleTimes(const Schedule& schedule, const PlacedGraph& placed, Findings& findings) {
  TimeVerifier(schedule, placed, findings).run();
}

} // namespace dfc
