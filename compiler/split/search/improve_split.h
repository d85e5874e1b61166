// improveSplit: local search on a split plan with the whole planner in the loop: each step makes a plan near
// the one at hand (split_moves.h), has it rated, and keeps it if it is no slower than the plan of some steps
// ago (late acceptance hill climbing: Burke and Bykov, EJOR 258(1), 2017). Random numbers have a fixed seed.
#pragma once

#include "compiler/split/split.h"

#include <functional>

namespace dfc {

/// What the search asks its caller.
struct SplitRating {
  /// Seconds of a step by the split graph; infinite where no plan of it fits into memory. Beyond `limit` a
  /// lower bound will do. The caller keeps the best.
  std::function<double(SplitGraph candidate, double limit)> seconds;
  /// Whether there is time for one more candidate.
  std::function<bool()> goesOn;
};

/// `seconds`: of `start`. Ends when `goesOn` says so, or when no plan is found that was not rated before.
void improveSplit(const SplitGraph& start, double seconds, const Machine& machine, const CostModel& cost,
                  const SplitRating& rating);

} // namespace dfc
