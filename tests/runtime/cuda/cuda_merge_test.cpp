// Which units share a launch: what joins, what stays apart and why, and, of random units, that none overtakes
// another that it must stay behind.
#include "runtime/cuda/launches/merge.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <fmt/format.h>

using namespace dfc;
using namespace dfc::cuda;
using dfc::test::Dice;

namespace {

/// Bytes that a unit touches, element by element where `stride` says so.
Range range(uint64_t begin, int64_t bytes, uint8_t stride = 0) { return {{false, begin}, bytes, stride}; }

/// A unit as the decisions see it: several blocks of 64 threads unless changed.
SingleLaunch unitOf(std::vector<Range> reads, std::vector<Range> writes, std::string code = "f") {
  SingleLaunch unit;
  unit.reads.assign(reads.begin(), reads.end());
  unit.writes.assign(writes.begin(), writes.end());
  unit.pointers.resize(reads.size() + writes.size());
  unit.kernel.code = std::move(code);
  unit.kernel.grid = {4, 1};
  unit.kernel.threads = 64;
  return unit;
}

SingleLaunch oneBlock(std::vector<Range> reads, std::vector<Range> writes) {
  SingleLaunch unit = unitOf(std::move(reads), std::move(writes));
  unit.kernel.grid = {1, 1};
  return unit;
}

SingleLaunch product(std::vector<Range> reads, std::vector<Range> writes) {
  SingleLaunch unit = unitOf(std::move(reads), std::move(writes));
  unit.product.emplace();
  return unit;
}

/// "0 1 | 2+3 4,5": launches by |, members by blanks, stages by commas, followers by plus signs.
std::string written(const std::vector<LaunchGroup>& groups) {
  std::string text;
  for (const LaunchGroup& group : groups) {
    text += text.empty() ? "" : " |";
    for (const LaunchMember& member : group.members) {
      std::string stages;
      for (const LaunchStage& stage : member) {
        stages += fmt::format("{}{}", stages.empty() ? "" : ",", stage.unit);
        for (const uint32_t follower : stage.followers) {
          stages += fmt::format("+{}", follower);
        }
      }
      text += (text.empty() ? "" : " ") + stages;
    }
  }
  return text;
}

std::string merged(const std::vector<SingleLaunch>& units, const MergeLimits& limits = {}) {
  return written(mergeLaunches(units, limits));
}

} // namespace

TEST_CASE("merge: units that touch none of each other's bytes share a launch, whoever reads the same") {
  const Range shared = range(0, 100);
  CHECK(merged({unitOf({shared}, {range(1000, 10)}), unitOf({shared}, {range(1010, 10)}),
                unitOf({shared}, {range(990, 10)})}) == "0 1 2");
}

TEST_CASE("merge: a unit that reads or overwrites what an earlier one touches comes in a later launch") {
  const SingleLaunch first = unitOf({range(0, 100)}, {range(1000, 10)});
  CHECK(merged({first, unitOf({range(1009, 1)}, {range(2000, 1)})}) == "0 | 1");
  CHECK(merged({first, unitOf({}, {range(99, 2)})}) == "0 | 1");
  CHECK(merged({first, unitOf({}, {range(1000, 1)})}) == "0 | 1");
  CHECK(merged({first, unitOf({range(1010, 1)}, {range(100, 900)})}) == "0 1");
}

TEST_CASE("merge: workspace and arena are different memory") {
  SingleLaunch inWorkspace = unitOf({}, {range(0, 100)});
  inWorkspace.writes[0].begin.inWorkspace = true;
  CHECK(merged({inWorkspace, unitOf({}, {range(0, 100)})}) == "0 1");
  CHECK(merged({inWorkspace, inWorkspace}) == "0 | 1");
}

TEST_CASE("merge: a unit joins the earliest launch that it may, past products that leave its bytes alone") {
  const SingleLaunch a = unitOf({}, {range(0, 10)}), gemm = product({range(500, 10), range(0, 10)}, {range(600, 10)});
  CHECK(merged({a, gemm, unitOf({}, {range(20, 10)})}) == "0 2 | 1");
  CHECK(merged({a, gemm, unitOf({range(600, 1)}, {range(20, 10)})}) == "0 | 1 | 2");
  CHECK(merged({a, gemm, unitOf({}, {range(500, 1)})}) == "0 | 1 | 2");
  CHECK(merged({gemm, gemm}) == "0 | 1");
  const SingleLaunch b = unitOf({range(600, 10)}, {range(30, 10)});
  CHECK(merged({a, gemm, b, unitOf({}, {range(20, 10)})}) == "0 3 | 1 | 2");
}

TEST_CASE("merge: nothing leaves its region") {
  std::vector<SingleLaunch> units = {unitOf({}, {range(0, 10)}), unitOf({}, {range(10, 10)}),
                             unitOf({}, {range(20, 10)})};
  units[2].region.number = 1;
  CHECK(merged(units) == "0 1 | 2");
}

TEST_CASE("merge: an earlier launch waits for a unit that it can be joined with") {
  // The product needs nothing of unit 0, and unit 2 needs the product.
  CHECK(merged({unitOf({}, {range(0, 10)}), product({}, {range(600, 10)}),
                unitOf({range(600, 10)}, {range(20, 10)})}) == "1 | 0 2");
  CHECK(merged({unitOf({}, {range(0, 10)}), product({range(0, 10)}, {range(600, 10)}),
                unitOf({range(600, 10)}, {range(20, 10)})}) == "0 | 1 | 2");
}

TEST_CASE("merge: one block after another's result, in the same block") {
  const SingleLaunch first = oneBlock({}, {range(0, 10)}), second = oneBlock({range(0, 10)}, {range(10, 10)}),
             third = oneBlock({range(10, 10)}, {range(20, 10)});
  CHECK(merged({first, second, third}) == "0,1,2");
  // One that needs two members would have to wait for both of their blocks.
  CHECK(merged({first, oneBlock({}, {range(50, 10)}),
                oneBlock({range(0, 10), range(50, 10)}, {range(70, 10)})}) == "0 1 | 2");
  CHECK(merged({first, unitOf({range(0, 10)}, {range(10, 10)})}) == "0 | 1");
}

TEST_CASE("merge: a unit that needs another's result element by element is made along with it") {
  SingleLaunch sum = unitOf({range(0, 1000)}, {range(5000, 40, 4)}, "sum");
  sum.kernel.elements = 10;
  SingleLaunch update = unitOf({range(5000, 40, 4), range(6000, 40, 4)}, {range(6000, 40, 4)}, "update");
  update.kernel.elements = 10;
  update.kernel.alone = true;
  CHECK(merged({sum, update}) == "0+1");
  SingleLaunch again = update; // after both, in place
  again.writes = again.reads;
  CHECK(merged({sum, update, again}) == "0+1+2");
  SECTION("of as many elements") {
    update.kernel.elements = 9;
    CHECK(merged({sum, update}) == "0 | 1");
  }
  SECTION("that can be made alone") {
    update.kernel.alone = false;
    CHECK(merged({sum, update}) == "0 | 1");
  }
  SECTION("of the same size") {
    update.reads[0].stride = 8;
    CHECK(merged({sum, update}) == "0 | 1");
  }
  SECTION("from the same place") {
    update.reads[0] = range(5004, 36, 4);
    CHECK(merged({sum, update}) == "0 | 1");
  }
  SECTION("overwriting nothing that other elements need") {
    update.writes[0] = range(40, 40, 4);
    CHECK(merged({sum, update}) == "0 | 1");
  }
}

TEST_CASE("merge: limits of a launch") {
  const auto apart = [](size_t count, const auto& change) {
    std::vector<SingleLaunch> units;
    for (size_t i = 0; i < count; ++i) {
      units.push_back(unitOf({}, {range(100 * i, 10)}));
      change(units.back(), i);
    }
    return units;
  };
  const auto asTheyAre = [](SingleLaunch&, size_t) {};
  const auto ownCode = [](SingleLaunch& unit, size_t i) { unit.kernel.code = fmt::format("f{}", i); };
  MergeLimits limits;
  limits.pointers = 2;
  CHECK(merged(apart(3, asTheyAre), limits) == "0 1 | 2");
  limits = {};
  limits.functions = 2;
  CHECK(merged(apart(3, ownCode), limits) == "0 1 | 2");
  CHECK(merged(apart(3, asTheyAre), limits) == "0 1 2");
  CHECK(mergeLaunches(apart(600, asTheyAre)).size() == 2); // 512 pointers
}

TEST_CASE("merge: blocks of unlike sizes only where the wider ones are harmless") {
  std::vector<SingleLaunch> units = {unitOf({}, {range(0, 10)}), unitOf({}, {range(10, 10)})};
  units[1].kernel.threads = 256;
  CHECK(merged(units) == "0 1");
  units[1].kernel.threads = 512;
  CHECK(merged(units) == "0 | 1");
  units[0].kernel.threads = 512;
  CHECK(merged(units) == "0 1");
  units[0].kernel.threads = 64;
  units[1].kernel.threads = 128;
  units[0].kernel.barriers = true; // its surplus threads would have to wait with it
  CHECK(merged(units) == "0 | 1");
  units[0].kernel.barriers = false, units[1].kernel.barriers = true;
  CHECK(merged(units) == "0 1");
}

TEST_CASE("merge: what fills a GPU by itself shares a launch only with its like") {
  std::vector<SingleLaunch> units = {unitOf({}, {range(0, 10)}), unitOf({}, {range(10, 10)})};
  units[0].kernel.grid = {100000, 1};
  units[1].kernel.sharedBytes = 4096;
  CHECK(merged(units) == "0 | 1");
  units[0].kernel.sharedBytes = 4096;
  CHECK(merged(units) == "0 1");
  units[0].kernel.sharedBytes = units[1].kernel.sharedBytes = 0;
  units[1].kernel.blocksAtOnce = 4;
  CHECK(merged(units) == "0 | 1");
  units[0].kernel.blocksAtOnce = 4;
  CHECK(merged(units) == "0 1");
  units[0].kernel.blocksAtOnce = units[1].kernel.blocksAtOnce = 0;
  units[1].kernel.threads = 256;
  CHECK(merged(units) == "0 | 1");
  units[0].kernel.streamed = units[1].kernel.streamed = true; // updates, however large
  CHECK(merged(units) == "0 1");
}

TEST_CASE("merge: of random units, each is launched once and stays behind what it must") {
  size_t launches = 0, all = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    std::vector<SingleLaunch> units;
    for (int64_t i = 0; i < 40; ++i) {
      const auto somewhere = [&] {
        return range(static_cast<uint64_t>(dice.below(30) * 10), 10 + 10 * dice.below(2),
                     dice.chance(50) ? 4 : 0);
      };
      units.push_back(unitOf({somewhere(), somewhere()}, {somewhere()}));
      SingleLaunch& unit = units.back();
      unit.region.number = static_cast<uint32_t>(i / 25);
      unit.kernel.grid[0] = dice.chance(50) ? 1 : 4;
      unit.kernel.elements = 5;
      unit.kernel.alone = dice.chance(50);
      if (dice.chance(10)) {
        unit.product.emplace();
      }
    }
    struct Turn {
      size_t launch = 0, member = 0, stage = 0, place = 0;
    };
    std::vector<std::optional<Turn>> turns(units.size());
    const auto groups = mergeLaunches(units);
    const auto note = [&](uint32_t unit, Turn turn) {
      REQUIRE_FALSE(turns[unit].has_value());
      turns[unit] = turn;
    };
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t m = 0; m < groups[g].members.size(); ++m) {
        for (size_t s = 0; s < groups[g].members[m].size(); ++s) {
          const LaunchStage& stage = groups[g].members[m][s];
          note(stage.unit, {g, m, s, 0});
          for (size_t f = 0; f < stage.followers.size(); ++f) {
            note(stage.followers[f], {g, m, s, f + 1});
          }
        }
      }
    }
    for (size_t b = 0; b < units.size(); ++b) {
      REQUIRE(turns[b].has_value());
      for (size_t a = 0; a < b; ++a) {
        const Turn first = *turns[a], second = *turns[b];
        if (units[a].region.number != units[b].region.number) {
          CHECK(first.kernel < second.launch);
        } else if (conflict(units[a], units[b]) && first.kernel >= second.launch) {
          INFO("seed " << seed << ", " << a << " and " << b << " of " << written(groups));
          REQUIRE(first.kernel == second.launch);
          REQUIRE(first.member == second.member);
          CHECK((first.stage < second.stage || (first.stage == second.stage && first.place < second.place)));
          CHECK((first.stage < second.stage || elementByElement(units[a], units[b])));
        }
      }
    }
    launches += groups.size();
    all += units.size();
  }
  CHECK(launches < all * 3 / 4);
}
