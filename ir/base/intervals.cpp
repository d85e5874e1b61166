#include "ir/base/intervals.h"

#include <algorithm>

namespace dfc {

Intervals united(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  Intervals joined;
  for (const auto& interval : intervals) {
    if (!joined.empty() && interval.first <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, interval.second);
    } else {
      joined.push_back(interval);
    }
  }
  return joined;
}

double overlapOf(const Intervals& united, double begin, double end) {
  double sum = 0;
  auto at = std::lower_bound(united.begin(), united.end(), begin,
                             [](const auto& interval, double time) { return interval.second <= time; });
  for (; at != united.end() && at->first < end; ++at) {
    sum += std::min(end, at->second) - std::max(begin, at->first);
  }
  return sum;
}

} // namespace dfc
