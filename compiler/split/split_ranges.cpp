#include "compiler/split/split_ranges.h"

#include "ir/base/assert.h"

#include <algorithm>
#include <cmath>

namespace dfc {

std::vector<SplitRange> rangesOf(int64_t length, const std::vector<double>& shares, int64_t granule) {
  const auto parts = static_cast<int64_t>(shares.size());
  DFC_ASSERT(length >= parts, "an axis of fewer elements than parts");
  const int64_t step = length >= 4 * parts * granule ? granule : 1;
  std::vector<SplitRange> ranges;
  double sum = 0;
  int64_t begin = 0;
  for (int64_t i = 0; i < parts; ++i) {
    sum += shares[static_cast<size_t>(i)];
    const double ideal = sum * static_cast<double>(length) / static_cast<double>(step);
    int64_t end = i + 1 == parts ? length : static_cast<int64_t>(std::floor(ideal + 0.5)) * step;
    end = std::clamp(end, begin + 1, length - (parts - 1 - i));
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

} // namespace dfc
