#include "compiler/tasks/timeline.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr int mostGapsTried = 64;

} // namespace

double Timeline::earliestStart(double ready, double seconds) const {
  if (gaps_.size() == 1 || gaps_.back().start <= ready) {
    return std::max(ready, gaps_.back().start);
  }
  auto gap = std::lower_bound(gaps_.begin(), gaps_.end(), ready + seconds,
                              [](const Gap& one, double end) { return one.end < end; });
  for (int tried = 0; tried < mostGapsTried && gap != gaps_.end(); ++tried, ++gap) {
    const double start = std::max(ready, gap->start);
    if (start + seconds <= gap->end) {
      return start;
    }
  }
  return std::max(ready, gaps_.back().start);
}

void Timeline::occupy(double start, double end) {
  if (start == end) {
    return;
  }
  auto gap = gaps_.end() - 1;
  if (gap->start > start) {
    gap = std::lower_bound(gaps_.begin(), gaps_.end(), end,
                           [](const Gap& one, double time) { return one.end < time; });
  }
  const Gap before{gap->start, start};
  if (gap->end > end) {
    gap->start = end;
    if (before.start < start) {
      gaps_.insert(gap, before);
    }
  } else if (before.start < start) {
    *gap = before;
  } else {
    gaps_.erase(gap);
  }
}

void Timeline::release(double start, double end) {
  if (start == end) {
    return;
  }
  auto after = std::lower_bound(gaps_.begin(), gaps_.end(), end,
                                [](const Gap& one, double time) { return one.start < time; });
  const bool joinsAfter = after != gaps_.end() && after->start == end;
  const bool joinsBefore = after != gaps_.begin() && (after - 1)->end == start;
  if (joinsBefore && joinsAfter) {
    (after - 1)->end = after->end;
    gaps_.erase(after);
  } else if (joinsBefore) {
    (after - 1)->end = end;
  } else if (joinsAfter) {
    after->start = start;
  } else {
    gaps_.insert(after, {start, end});
  }
}

void Timeline::clear() { gaps_.assign(1, {0, std::numeric_limits<double>::infinity()}); }

} // namespace dfc
