// Ends of tasks that share a device, by hand: numbers are halves and quarters, so that they are exact.
#include "compiler/schedule/processor_sharing.h"

#include "tests/support/catch.h"

#include <map>
#include <random>

namespace dfc {
namespace {

struct Arrival {
  double at, seconds, utilisation;
  uint32_t device = 0;
  double traffic = 0; ///< of a memory that all tasks share
};

/// When each of the tasks ends that arrive at these times, in ascending order.
std::vector<double> endsOf(const std::vector<Arrival>& arrivals) {
  ProcessorSharing clock(arrivals.size(), 3);
  std::vector<double> ends(arrivals.size());
  uint32_t arrived = 0;
  while (arrived < arrivals.size() || !clock.idle()) {
    if (arrived < arrivals.size() && (clock.idle() || arrivals[arrived].at < clock.next())) {
      const Arrival& row = arrivals[arrived];
      clock.start(arrived++, row.at, row.seconds, {row.device, row.utilisation}, {2, row.traffic});
    } else {
      const double now = clock.next();
      ends[clock.end()] = now;
    }
  }
  return ends;
}

using Ends = std::vector<double>;

} // namespace

TEST_CASE("processor sharing: what wants no more than the device runs as if alone") {
  CHECK(endsOf({{0, 3, 0.5}, {1, 1, 0.25}, {1.5, 0.1, 0.25}}) == Ends{3, 2, 1.5 + 0.1});
  CHECK(endsOf({{0, 3, 1}}) == Ends{3});
  CHECK(endsOf({{0, 0, 1}, {0, 0, 0}}) == Ends{0, 0});
}

TEST_CASE("processor sharing: what wants more is slowed down alike") {
  // Both at half their speed: the first's 2 s take until 4; of the second's 3 s one is left then, alone.
  CHECK(endsOf({{0, 2, 1}, {0, 3, 1}}) == Ends{4, 5});
  // 4 of 0.5: together 2, half speed. The device is full for 4 x 4 x 0.5 = 8 s.
  CHECK(endsOf({{0, 4, 0.5}, {0, 4, 0.5}, {0, 4, 0.5}, {0, 4, 0.5}}) == Ends{8, 8, 8, 8});
  // 1 and 0.25: 1.25, so 0.8 of their speed. The second's 4 s take until 5, when 8 - 5 x 0.8 = 4 s of the
  // first are left, alone.
  const Ends ends = endsOf({{0, 8, 1}, {0, 4, 0.25}});
  CHECK(ends[1] == Approx(5));
  CHECK(ends[0] == Approx(9));
}

TEST_CASE("processor sharing: one that comes later slows down what is under way, and gives way again") {
  // From 2 on half speed: the second's second takes until 4. The first has 4 - 2 - 1 = 1 s left.
  CHECK(endsOf({{0, 4, 1}, {2, 1, 1}}) == Ends{5, 4});
  // Tasks of utilisation 0 (copies) and tasks on other devices do not count.
  CHECK(endsOf({{0, 4, 1}, {1, 2, 0}, {1, 2, 1, 1}, {2, 1, 1}}) == Ends{5, 3, 3, 4});
}

TEST_CASE("processor sharing: a task of two resources runs at the smaller of their speeds") {
  // Two devices that want 1 and 0.5 of one memory: 1.5, so 2/3 of their speed. The second's 2 s take until 3,
  // when 4 - 3 x 2/3 = 2 s of the first are left, alone.
  const Ends ends = endsOf({{0, 4, 1, 0, 1}, {0, 2, 1, 1, 0.5}});
  CHECK(ends[1] == Approx(3));
  CHECK(ends[0] == Approx(5));
  // Without traffic on the second device the memory slows nothing down.
  CHECK(endsOf({{0, 4, 1, 0, 1}, {0, 2, 1, 1, 0}}) == Ends{4, 2});
  // Half speed by the device, and by the memory, which all three want whole, a third.
  CHECK(endsOf({{0, 1, 1, 0, 1}, {0, 1, 1, 0, 1}, {0, 1, 1, 1, 1}}) == Ends{3, 3, 3});
}

TEST_CASE("processor sharing: a device never does more than it can, and nothing is quicker than alone") {
  std::mt19937 random(11);
  const auto draw = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (int round = 0; round < 50; ++round) {
    std::vector<Arrival> arrivals;
    double at = 0;
    for (int task = 0; task < 30; ++task) {
      at += draw(3) * 0.25;
      arrivals.push_back(
          {at, draw(20) * 0.25, draw(8) * 0.125, static_cast<uint32_t>(draw(1)), draw(4) * 0.25});
    }
    const Ends ends = endsOf(arrivals);
    std::map<uint32_t, std::pair<double, double>> work; // of a device: demanded, last end
    for (size_t i = 0; i < ends.size(); ++i) {
      CHECK(ends[i] >= arrivals[i].at + arrivals[i].seconds - 1e-9);
      work[arrivals[i].device].first += arrivals[i].seconds * arrivals[i].utilisation;
      work[arrivals[i].device].second = std::max(work[arrivals[i].device].second, ends[i]);
      work[2].first += arrivals[i].seconds * arrivals[i].traffic;
      work[2].second = std::max(work[2].second, ends[i]);
    }
    for (const auto& [device, row] : work) {
      CHECK(row.first <= row.second + 1e-9);
    }
  }
}

} // namespace dfc
