// Intervals in an ordered map, split at the ends of each claim.
#include "ir/verify/occupancy.h"

#include <algorithm>

namespace dfc {

void Occupancy::cutAt(int64_t place) {
  auto after = intervals_.upper_bound(place);
  if (after == intervals_.begin()) {
    return;
  }
  auto& [begin, interval] = *std::prev(after);
  if (begin < place && interval.end > place) {
    intervals_.emplace_hint(after, place, interval);
    interval.end = place;
  }
}

std::vector<ContentId> Occupancy::claim(int64_t begin, int64_t end, ContentId owner) {
  cutAt(begin);
  cutAt(end);
  const auto first = intervals_.lower_bound(begin);
  const auto last = intervals_.lower_bound(end);
  std::vector<ContentId> owners;
  for (auto interval = first; interval != last; ++interval) {
    owners.push_back(interval->second.owner);
  }
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  intervals_.erase(first, last);
  intervals_.emplace(begin, Interval{end, owner});
  return owners;
}

} // namespace dfc
