// A queue's program before and after merging: its regions without waits, and the launches with their text,
// pointers and workspace.
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/memory_plan.h"
#include "runtime/cuda/launches/launch_plan.h"
#include "runtime/cuda/launches/regions.h"
#include "runtime/cuda/launches/unmerged_launch.h"
#include "tests/support/catch.h"

#include <map>

using namespace dfc;
using namespace dfc::cuda;

TEST_CASE("regions: a wait begins one, a published end ends one, and a copy is one by itself") {
  Program program;
  const auto add = [&](Command::Kind kind, bool waits, bool publishes) {
    Command& command = program.commands.emplace_back();
    command.kind = kind;
    command.publishes = publishes;
    if (waits) {
      command.waits.push_back({});
    }
  };
  using Kind = Command::Kind;
  add(Kind::Compute, true, false);  // 0
  add(Kind::Nothing, false, false); // 0
  add(Kind::Compute, false, true);  // 0
  add(Kind::Compute, false, false); // 1
  add(Kind::Compute, true, false);  // 2
  add(Kind::Copy, false, false);    // 3
  add(Kind::Compute, false, false); // 4
  add(Kind::Transfer, true, true);  // 5
  add(Kind::Transfer, true, true);  // 6
  std::vector<uint32_t> numbers, queueRegions;
  for (const Region& region : regionsOf(program)) {
    numbers.push_back(region.number);
    queueRegions.push_back(region.queueRegion);
  }
  CHECK(numbers == std::vector<uint32_t>{0, 0, 0, 1, 2, 3, 4, 5, 6});
  CHECK(queueRegions == std::vector<uint32_t>{0, 0, 0, 0, 1, 2, 3, 4, 5});
}

namespace {

/// Sums over the rows of two tall matrices, each in two launches by itself.
struct TwoSums {
  Graph graph;
  std::vector<Computation> computations;

  TwoSums() : graph(written()) {
    uint64_t at = uint64_t{1} << 32;
    const auto address = [](uint64_t number) { return reinterpret_cast<std::byte*>(number); };
    for (const OpId op : graph.ops()) {
      if (graph[op].kind() == OpKind::ReduceSum) {
        const auto position = static_cast<uint32_t>(op.index());
        computations.push_back({op, {{address(at)}, {address(at + (uint64_t{1} << 30))}}, "", 0, position});
        at += uint64_t{1} << 32;
      }
    }
  }
  static Graph written() {
    Builder g("sums");
    g.fetch("a", reduceSum(g.parameter("x", f32({4096, 128})), {0}));
    g.fetch("b", reduceSum(g.parameter("y", f32({4096, 64})), {0}));
    return *std::move(g).finish();
  }
};

} // namespace

TEST_CASE("launches: two reductions in two passes are merged pass by pass") {
  const TwoSums sums;
  const LaunchPlan apart = planLaunches(sums.graph, sums.computations, false);
  REQUIRE(apart.launches.size() == 4);
  CHECK(apart.launches[0].position == sums.computations[0].position);
  CHECK(apart.launches[3].position == sums.computations[1].position);
  const LaunchPlan merged = planLaunches(sums.graph, sums.computations, true);
  REQUIRE(merged.launches.size() == 2);
  for (const PlannedLaunch& launch : merged.launches) {
    CHECK(launch.computations == std::vector<uint32_t>{0, 1});
    CHECK(launch.position == sums.computations[0].position);
    CHECK(launch.pointersByValue);
    CHECK(launch.pointers.size() == 4);
  }
  // Each has a part of the workspace to itself; apart they use the same in turn.
  CHECK(merged.launches[0].pointers[1].inWorkspace);
  CHECK(merged.launches[0].pointers[1].at != merged.launches[0].pointers[3].at);
  CHECK(merged.workspaceBytes > apart.workspaceBytes);
}

TEST_CASE("launches: the same plan gives the same text, whatever the addresses") {
  const TwoSums sums;
  TwoSums elsewhere;
  for (Computation& computation : elsewhere.computations) {
    computation.at.operands[0] += 4096;
  }
  const LaunchPlan a = planLaunches(sums.graph, sums.computations, true),
                   b = planLaunches(elsewhere.graph, elsewhere.computations, true);
  REQUIRE(a.launches.size() == b.launches.size());
  for (size_t i = 0; i < a.launches.size(); ++i) {
    CHECK(a.launches[i].text == b.launches[i].text);
  }
}

TEST_CASE("launches: each computation's workspace begins where an arena's values may, and is its own") {
  Builder g("sums");
  for (const int64_t columns : {12, 3, 7}) { // partial sums of no multiple of the alignment
    const std::string name = "x" + std::to_string(columns);
    g.fetch(name, reduceSum(g.parameter(name, f32({4096, columns})), {0}));
  }
  const Graph graph = *std::move(g).finish();
  std::vector<Computation> computations;
  for (const OpId op : graph.opsOf(OpKind::ReduceSum)) {
    auto* const at = reinterpret_cast<std::byte*>((uint64_t{op.index()} + 1) << 32);
    computations.push_back({op, {{at}, {at + (1 << 30)}}, "", 0, op.index()});
  }
  const UnmergedLaunches all = unmergedLaunchesOf(graph, computations, true);
  std::map<uint64_t, std::pair<int64_t, uint32_t>> parts; // by begin: bytes, computation
  for (const UnmergedLaunch& launch : all.launches) {
    for (const Range& range : launch.writes) {
      if (range.begin.inWorkspace) {
        CHECK(range.begin.at % arenaAlignment == 0);
        CHECK(parts.try_emplace(range.begin.at, range.bytes, launch.computation).first->second.second ==
              launch.computation);
      }
    }
  }
  REQUIRE(parts.size() == 3);
  REQUIRE(parts.begin()->second.first % arenaAlignment != 0);
  uint64_t end = 0;
  for (const auto& [begin, part] : parts) {
    CHECK(begin >= end);
    end = begin + static_cast<uint64_t>(part.first);
  }
  CHECK(end == static_cast<uint64_t>(all.workspaceBytes));
}
