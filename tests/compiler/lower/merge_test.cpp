// Merging of launches: which launches are merged and which stay apart, and that of random launches none
// overtakes one that it depends on.
#include "compiler/lower/merge.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <fmt/format.h>

using namespace dfc;
using namespace dfc::cuda;
using dfc::test::Dice;

namespace {

/// Bytes that a launch accesses, element by element where `stride` says so.
Range range(int64_t begin, int64_t bytes, uint8_t stride = 0) {
  return {{DeviceId(0), begin}, bytes, stride};
}

/// A launch as merging sees it: several blocks of 64 threads unless changed.
UnmergedLaunch launchOf(std::vector<Range> reads, std::vector<Range> writes, std::string code = "f") {
  UnmergedLaunch launch;
  launch.reads.assign(reads.begin(), reads.end());
  launch.writes.assign(writes.begin(), writes.end());
  launch.pointers.resize(reads.size() + writes.size());
  launch.kernel.code = std::move(code);
  launch.kernel.grid = {4, 1};
  launch.kernel.threads = 64;
  return launch;
}

UnmergedLaunch oneBlock(std::vector<Range> reads, std::vector<Range> writes) {
  UnmergedLaunch launch = launchOf(std::move(reads), std::move(writes));
  launch.kernel.grid = {1, 1};
  return launch;
}

UnmergedLaunch product(std::vector<Range> reads, std::vector<Range> writes) {
  UnmergedLaunch launch = launchOf(std::move(reads), std::move(writes));
  launch.product.emplace();
  return launch;
}

/// "0 1 | 2+3 4,5": launches by |, members by blanks, stages by commas, followers by plus signs.
std::string written(const std::vector<LaunchGroup>& groups) {
  std::string text;
  for (const LaunchGroup& group : groups) {
    text += text.empty() ? "" : " |";
    for (const LaunchMember& member : group.members) {
      std::string stages;
      for (const LaunchStage& stage : member) {
        stages += fmt::format("{}{}", stages.empty() ? "" : ",", stage.launch);
        for (const uint32_t follower : stage.followers) {
          stages += fmt::format("+{}", follower);
        }
      }
      text += (text.empty() ? "" : " ") + stages;
    }
  }
  return text;
}

std::string merged(const std::vector<UnmergedLaunch>& launches, const MergeLimits& limits = {}) {
  return written(mergeLaunches(launches, limits));
}

} // namespace

TEST_CASE("merge: launches that only read the same bytes are merged") {
  const Range shared = range(0, 100);
  CHECK(merged({launchOf({shared}, {range(1000, 10)}), launchOf({shared}, {range(1010, 10)}),
                launchOf({shared}, {range(990, 10)})}) == "0 1 2");
}

TEST_CASE("merge: a launch that depends on an earlier one's bytes stays a later launch") {
  const UnmergedLaunch first = launchOf({range(0, 100)}, {range(1000, 10)});
  CHECK(merged({first, launchOf({range(1009, 1)}, {range(2000, 1)})}) == "0 | 1");
  CHECK(merged({first, launchOf({}, {range(99, 2)})}) == "0 | 1");
  CHECK(merged({first, launchOf({}, {range(1000, 1)})}) == "0 | 1");
  CHECK(merged({first, launchOf({range(1010, 1)}, {range(100, 900)})}) == "0 1");
}

TEST_CASE("merge: workspace and arena are different memory") {
  UnmergedLaunch inWorkspace = launchOf({}, {range(0, 100)});
  inWorkspace.writes[0].begin.device = DeviceId();
  CHECK(merged({inWorkspace, launchOf({}, {range(0, 100)})}) == "0 1");
  CHECK(merged({inWorkspace, inWorkspace}) == "0 | 1");
}

TEST_CASE("merge: a launch joins the earliest one that it may, past independent products") {
  const UnmergedLaunch a = launchOf({}, {range(0, 10)}),
                       gemm = product({range(500, 10), range(0, 10)}, {range(600, 10)});
  CHECK(merged({a, gemm, launchOf({}, {range(20, 10)})}) == "0 2 | 1");
  CHECK(merged({a, gemm, launchOf({range(600, 1)}, {range(20, 10)})}) == "0 | 1 | 2");
  CHECK(merged({a, gemm, launchOf({}, {range(500, 1)})}) == "0 | 1 | 2");
  CHECK(merged({gemm, gemm}) == "0 | 1");
  const UnmergedLaunch b = launchOf({range(600, 10)}, {range(30, 10)});
  CHECK(merged({a, gemm, b, launchOf({}, {range(20, 10)})}) == "0 3 | 1 | 2");
}

TEST_CASE("merge: no launch leaves its region") {
  std::vector<UnmergedLaunch> launches = {launchOf({}, {range(0, 10)}), launchOf({}, {range(10, 10)}),
                                          launchOf({}, {range(20, 10)})};
  launches[2].region.number = 1;
  CHECK(merged(launches) == "0 1 | 2");
}

TEST_CASE("merge: an earlier launch is deferred to one that it can be merged with") {
  // The product does not depend on launch 0, and launch 2 depends on the product.
  CHECK(merged({launchOf({}, {range(0, 10)}), product({}, {range(600, 10)}),
                launchOf({range(600, 10)}, {range(20, 10)})}) == "1 | 0 2");
  CHECK(merged({launchOf({}, {range(0, 10)}), product({range(0, 10)}, {range(600, 10)}),
                launchOf({range(600, 10)}, {range(20, 10)})}) == "0 | 1 | 2");
}

TEST_CASE("merge: launches of one block that depend on one another run in the same block") {
  const UnmergedLaunch first = oneBlock({}, {range(0, 10)}),
                       second = oneBlock({range(0, 10)}, {range(10, 10)}),
                       third = oneBlock({range(10, 10)}, {range(20, 10)});
  CHECK(merged({first, second, third}) == "0,1,2");
  // One that depends on two members would have to wait for both of their blocks.
  CHECK(merged({first, oneBlock({}, {range(50, 10)}),
                oneBlock({range(0, 10), range(50, 10)}, {range(70, 10)})}) == "0 1 | 2");
  CHECK(merged({first, launchOf({range(0, 10)}, {range(10, 10)})}) == "0 | 1");
}

TEST_CASE("merge: a launch that depends on another element by element runs in its threads") {
  UnmergedLaunch sum = launchOf({range(0, 1000)}, {range(5000, 40, 4)}, "sum");
  sum.kernel.elements = 10;
  UnmergedLaunch update = launchOf({range(5000, 40, 4), range(6000, 40, 4)}, {range(6000, 40, 4)}, "update");
  update.kernel.elements = 10;
  update.kernel.alone = true;
  CHECK(merged({sum, update}) == "0+1");
  UnmergedLaunch again = update; // after both, in place
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

TEST_CASE("merge: large launches that hand on element by element are one sweep") {
  const auto large = [](std::vector<Range> reads, std::vector<Range> writes, const char* code) {
    UnmergedLaunch launch = launchOf(std::move(reads), std::move(writes), code);
    launch.kernel.grid = {2000, 1};
    launch.kernel.elements = 10;
    launch.kernel.packWidth = 4;
    launch.kernel.alone = launch.kernel.singlePass = true;
    return launch;
  };
  const Range gradient = range(0, 40, 4), first = range(100, 40, 4), second = range(200, 40, 4),
              weight = range(300, 40, 4);
  const UnmergedLaunch m = large({gradient, first}, {first}, "m"),
                       v = large({gradient, second}, {second}, "v"),
                       w = large({first, second, weight}, {weight}, "w");
  CHECK(merged({m, v, w}) == "0+1+2");
  UnmergedLaunch update = w; // with a scalar that a product computes
  update.reads.push_back(range(900, 4));
  update.pointers.resize(update.reads.size() + 1);
  SECTION("from different launches, which are deferred") {
    const UnmergedLaunch scalar = product({range(500, 10)}, {range(900, 4)});
    CHECK(merged({m, scalar, v, update}) == "1 | 2+0+3");
    CHECK(merged({m, v, scalar, launchOf({range(900, 4)}, {range(700, 10)}), update}) == "2 | 0+1+4 3");
  }
  SECTION("behind a launch of rows, which cannot make its elements alone") {
    UnmergedLaunch rows = large({gradient}, {first}, "rows");
    rows.kernel.alone = rows.kernel.singlePass = false;
    CHECK(merged({rows, v, w}) == "0+1+2");
    CHECK(merged({rows, large({gradient, second}, {second}, "rows"), w}) == "0+1+2");
  }
  SECTION("that are deferred only past launches which do not depend on them") {
    CHECK(merged({m, v, product({first}, {range(900, 4)}), update}) == "0 | 2 | 1+3");
    CHECK(merged({m, v, product({}, {gradient, range(900, 4)}), update}) == "0 1 | 2 | 3");
  }
  SECTION("in their order, where they depend on one another") {
    const UnmergedLaunch scalar = launchOf({range(800, 10)}, {range(900, 4)});
    UnmergedLaunch a = large({gradient}, {first}, "a"), b = large({first}, {second}, "b");
    a.kernel.grid = b.kernel.grid = {4, 1}; // small, so that they are merged side by side
    CHECK(merged({launchOf({}, {range(800, 10)}), a, scalar, b, update}) == "0 | 2 | 1+3+4");
  }
  SECTION("unless a launch of rows would have to follow what it depends on") {
    UnmergedLaunch rows = large({gradient}, {first}, "rows"); // overwrites what m has read
    rows.kernel.alone = rows.kernel.singlePass = false;
    UnmergedLaunch before = large({first}, {second}, "before");
    UnmergedLaunch after = large({first, second, range(900, 4)}, {weight}, "after");
    CHECK(merged({before, product({}, {range(900, 4)}), rows, after}) == "0 | 1 | 2+3");
  }
  SECTION("as packs that both can make") {
    UnmergedLaunch apart = w;
    apart.kernel.packWidth = 0;
    CHECK(merged({m, v, apart}) == "0 1 | 2");
  }
}

TEST_CASE("merge: limits of a launch") {
  const auto apart = [](size_t count, const auto& change) {
    std::vector<UnmergedLaunch> launches;
    for (size_t i = 0; i < count; ++i) {
      launches.push_back(launchOf({}, {range(static_cast<int64_t>(100 * i), 10)}));
      change(launches.back(), i);
    }
    return launches;
  };
  const auto asTheyAre = [](UnmergedLaunch&, size_t) {};
  const auto ownCode = [](UnmergedLaunch& launch, size_t i) { launch.kernel.code = fmt::format("f{}", i); };
  MergeLimits limits;
  limits.pointers = 2;
  CHECK(merged(apart(3, asTheyAre), limits) == "0 1 | 2");
  limits = {};
  limits.functions = 2;
  CHECK(merged(apart(3, ownCode), limits) == "0 1 | 2");
  CHECK(merged(apart(3, asTheyAre), limits) == "0 1 2");
  CHECK(mergeLaunches(apart(600, asTheyAre)).size() == 2); // 512 pointers
}

TEST_CASE("merge: blocks of different sizes are merged only where padding is harmless") {
  std::vector<UnmergedLaunch> launches = {launchOf({}, {range(0, 10)}), launchOf({}, {range(10, 10)})};
  launches[1].kernel.threads = 256;
  CHECK(merged(launches) == "0 1");
  launches[1].kernel.threads = 512;
  CHECK(merged(launches) == "0 | 1");
  launches[0].kernel.threads = 512;
  CHECK(merged(launches) == "0 1");
  launches[0].kernel.threads = 64;
  launches[1].kernel.threads = 128;
  launches[0].kernel.barriers = true; // its surplus threads would have to wait with it
  CHECK(merged(launches) == "0 | 1");
  launches[0].kernel.barriers = false, launches[1].kernel.barriers = true;
  CHECK(merged(launches) == "0 1");
}

TEST_CASE("merge: launches that fill a GPU are merged only with launches of the same shape") {
  std::vector<UnmergedLaunch> launches = {launchOf({}, {range(0, 10)}), launchOf({}, {range(10, 10)})};
  launches[0].kernel.grid = {100000, 1};
  launches[1].kernel.sharedBytes = 4096;
  CHECK(merged(launches) == "0 | 1");
  launches[0].kernel.sharedBytes = 4096;
  CHECK(merged(launches) == "0 1");
  launches[0].kernel.sharedBytes = launches[1].kernel.sharedBytes = 0;
  launches[1].kernel.minBlocksPerMultiprocessor = 4;
  CHECK(merged(launches) == "0 | 1");
  launches[0].kernel.minBlocksPerMultiprocessor = 4;
  CHECK(merged(launches) == "0 1");
  launches[0].kernel.minBlocksPerMultiprocessor = launches[1].kernel.minBlocksPerMultiprocessor = 0;
  launches[1].kernel.threads = 256;
  CHECK(merged(launches) == "0 | 1");
  launches[0].kernel.singlePass = launches[1].kernel.singlePass = true; // updates, however large
  CHECK(merged(launches) == "0 1");
}

TEST_CASE("merge: random launches run once each, after all that they depend on") {
  size_t after = 0, before = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    std::vector<UnmergedLaunch> launches;
    for (int64_t i = 0; i < 40; ++i) {
      const auto somewhere = [&] {
        return range(static_cast<int64_t>(dice.below(seed % 2 == 0 ? 30 : 8) * 10), 10 + 10 * dice.below(2),
                     dice.chance(seed % 2 == 0 ? 50 : 90) ? 4 : 0);
      };
      launches.push_back(launchOf({somewhere(), somewhere()}, {somewhere()}));
      UnmergedLaunch& launch = launches.back();
      launch.region.number = static_cast<uint32_t>(i / 25);
      launch.kernel.grid[0] = dice.chance(30) ? 1 : dice.chance(50) ? 4 : 2000; // 2000: large
      launch.kernel.elements = 5;
      launch.kernel.alone = dice.chance(50);
      launch.kernel.packWidth = dice.chance(50) ? 4 : 0;
      if (dice.chance(10)) {
        launch.product.emplace();
      }
    }
    struct Position {
      size_t launch = 0, member = 0, stage = 0, place = 0;
    };
    std::vector<std::optional<Position>> positions(launches.size());
    const auto groups = mergeLaunches(launches);
    const auto note = [&](uint32_t launch, Position position) {
      REQUIRE_FALSE(positions[launch].has_value());
      positions[launch] = position;
    };
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t m = 0; m < groups[g].members.size(); ++m) {
        for (size_t s = 0; s < groups[g].members[m].size(); ++s) {
          const LaunchStage& stage = groups[g].members[m][s];
          note(stage.launch, {g, m, s, 0});
          for (size_t f = 0; f < stage.followers.size(); ++f) {
            note(stage.followers[f], {g, m, s, f + 1});
          }
        }
      }
    }
    for (size_t b = 0; b < launches.size(); ++b) {
      REQUIRE(positions[b].has_value());
      for (size_t a = 0; a < b; ++a) {
        const Position first = *positions[a], second = *positions[b];
        if (launches[a].region.number != launches[b].region.number) {
          CHECK(first.launch < second.launch);
        } else if (dependent(launches[a], launches[b]) && first.launch >= second.launch) {
          INFO("seed " << seed << ", " << a << " and " << b << " of " << written(groups));
          REQUIRE(first.launch == second.launch);
          REQUIRE(first.member == second.member);
          CHECK((first.stage < second.stage || (first.stage == second.stage && first.place < second.place)));
          CHECK((first.stage < second.stage || elementByElement(launches[a], launches[b])));
        }
      }
    }
    after += groups.size();
    before += launches.size();
  }
  CHECK(after < before * 3 / 4);
}
