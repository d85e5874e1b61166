// Intervals: union and overlap.
#include "ir/base/intervals.h"
#include "tests/support/catch.h"

using namespace dfc;

TEST_CASE("intervals: united ones are sorted, and joined where they touch or overlap") {
  CHECK(united({}).empty());
  CHECK(united({{4, 5}, {0, 1}, {1, 2}, {4.5, 4.75}, {4.5, 6}}) == Intervals{{0, 2}, {4, 6}});
}

TEST_CASE("intervals: the overlap is the sum over all intervals that are met") {
  const Intervals busy = {{0, 2}, {4, 6}, {8, 9}};
  CHECK(overlapOf(busy, 1, 5) == 2);
  CHECK(overlapOf(busy, 2, 4) == 0);
  CHECK(overlapOf(busy, -1, 10) == 5);
  CHECK(overlapOf({}, 0, 1) == 0);
}
