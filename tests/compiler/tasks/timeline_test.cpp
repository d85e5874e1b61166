// Timelines against a list of busy ranges that is searched from its beginning.
#include "compiler/tasks/timeline.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <random>

namespace dfc::test {
namespace {

using Range = std::pair<double, double>;

/// The earliest start in sorted ranges.
double earliestIn(const std::vector<Range>& busy, double ready, double seconds) {
  double start = ready;
  for (const auto& [from, to] : busy) {
    if (start + seconds <= from) {
      break;
    }
    start = std::max(start, to);
  }
  return start;
}

} // namespace

TEST_CASE("a timeline gives back what is released, over many blocks of gaps") {
  std::mt19937 random(3);
  Timeline timeline;
  std::vector<Range> busy;
  // Ranges of whole seconds, so that neighbours touch exactly; up to 1500 of them, in more than one block.
  for (int step = 0; step < 6000; ++step) {
    const bool grows = busy.size() < 1500 && (step < 2500 || random() % 2 == 0);
    if (grows || busy.empty()) {
      const auto start = static_cast<double>(random() % 20000);
      const auto end = start + 1 + random() % 3;
      const auto after = std::lower_bound(busy.begin(), busy.end(), Range(start, end));
      const bool free = (after == busy.end() || after->first >= end) &&
                        (after == busy.begin() || std::prev(after)->second <= start);
      if (free) {
        timeline.occupy(start, end);
        busy.insert(after, {start, end});
      }
    } else {
      const auto gone = busy.begin() + static_cast<ptrdiff_t>(random() % busy.size());
      timeline.release(gone->first, gone->second);
      busy.erase(gone);
    }
    const auto ready = static_cast<double>(random() % 20000);
    CHECK(timeline.earliestStart(ready, 1) == earliestIn(busy, ready, 1));
  }
  while (!busy.empty()) {
    timeline.release(busy.back().first, busy.back().second);
    busy.pop_back();
  }
  CHECK(timeline.earliestStart(0, 1e9) == 0);
}

TEST_CASE("a timeline: ranges of no length occupy nothing") {
  Timeline timeline;
  timeline.occupy(2, 2);
  timeline.occupy(0, 4);
  timeline.release(4, 4);
  CHECK(timeline.earliestStart(0, 1) == 4);
  CHECK(timeline.earliestStart(0, 0) == 4); // it needs a gap all the same
}

} // namespace dfc::test
