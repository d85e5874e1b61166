#include "compiler/split/search/improve_split.h"

#include "compiler/split/search/split_moves.h"

#include <algorithm>
#include <array>
#include <optional>

namespace dfc {

void improveSplit(const SplitGraph& start, double seconds, const Machine& machine, const CostModel& cost,
                  const SplitRating& rating) {
  constexpr size_t historyLength = 16;
  constexpr uint64_t mostIdle = 64; // steps without a better plan, after which the best is the start again
  SplitMoves moves(start, machine, cost);
  SplitMoves::State current = moves.start(), best = current;
  double value = seconds, least = seconds;
  std::array<double, historyLength> history;
  history.fill(seconds);
  uint64_t idle = 0;
  for (uint64_t step = 0; rating.goesOn(); ++step) {
    std::optional<SplitMoves::State> next = moves.next(current);
    if (!next) {
      return;
    }
    double& late = history[step % historyLength];
    const double limit = std::max(value, late);
    const double found =
        rating.seconds(splitGraphOf(start.whole, moves.planOf(*next), machine, start.asked), limit);
    if (found <= limit) {
      current = *std::move(next);
      value = found;
    }
    late = std::min(late, value);
    ++idle;
    if (value < least) {
      least = value;
      best = current;
      idle = 0;
    } else if (idle == mostIdle) {
      current = best;
      value = least;
      history.fill(least);
      idle = 0;
    }
  }
}

} // namespace dfc
