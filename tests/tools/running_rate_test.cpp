// The rate of progress: of the last units of work, and none until it is known.
#include "tools/dfc/run/running_rate.h"

#include "tests/support/catch.h"

namespace dfc::tool {
namespace {

/// Adds `count` units of `seconds` each behind `done` finished units; the first begins at `from`. Result: the
/// end of the last unit, in seconds.
double addUnits(RunningRate& rate, double from, double seconds, int64_t done, int64_t count) {
  for (int64_t i = 1; i <= count; ++i) {
    rate.add(from + static_cast<double>(i) * seconds, done + i);
  }
  return from + static_cast<double>(count) * seconds;
}

TEST_CASE("progress: there is no rate before units enough have ended") {
  RunningRate rate;
  CHECK_FALSE(rate.perSecond());
  rate.add(30, 1); // the first step, which takes longest, is no measure
  CHECK_FALSE(rate.perSecond());
  addUnits(rate, 30, 2, 1, 3);
  CHECK_FALSE(rate.perSecond());
  rate.add(38, 5);
  CHECK(rate.perSecond().value() == Approx(0.5));
}

TEST_CASE("progress: a burst at the beginning is no rate") {
  RunningRate rate;
  const double end = addUnits(rate, 0, 0.001, 0, 8); // steps submitted ahead
  CHECK_FALSE(rate.perSecond());
  addUnits(rate, end, 1, 8, 6);
  CHECK(rate.perSecond().value() == Approx(1).epsilon(0.01));
}

TEST_CASE("progress: the rate is that of the last units, whether the first were slower or quicker") {
  for (const double first : {0.01, 10.0}) {
    RunningRate rate;
    const double end = addUnits(rate, 0, first, 0, 10);
    addUnits(rate, end, 0.25, 10, 60);
    CHECK(rate.perSecond().value() == Approx(4).epsilon(0.03));
  }
}

TEST_CASE("progress: a training that goes on counts its own steps") {
  RunningRate rate;
  addUnits(rate, 0, 0.5, 100000, 20);
  CHECK(rate.perSecond().value() == Approx(2));
}

} // namespace
} // namespace dfc::tool
