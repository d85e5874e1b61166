// A queue's launches before and after merging: their text, pointers and workspace.
#include "compiler/lower/plan_launches.h"
#include "compiler/lower/unmerged_launch.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/memory_plan.h"
#include "tests/support/catch.h"

#include <map>

using namespace dfc;
using namespace dfc::cuda;

namespace {

/// Sums over the rows of two tall matrices, each in two launches by itself.
struct TwoSums {
  Graph graph;
  std::vector<Computation> computations;

  TwoSums() : graph(written()) {
    int64_t at = int64_t{1} << 32;
    const auto place = [](int64_t offset) { return LaunchPointer{DeviceId(0), offset}; };
    for (const OpId op : graph.ops()) {
      if (graph[op].kind() == OpKind::ReduceSum) {
        const auto position = static_cast<uint32_t>(op.index());
        computations.push_back({op, {{place(at)}, {place(at + (int64_t{1} << 30))}}, "", {}, position});
        at += int64_t{1} << 32;
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
  const QueueLaunches apart = planLaunches(sums.graph, sums.computations, false);
  REQUIRE(apart.launches.size() == 4);
  CHECK(apart.launches[0].position == sums.computations[0].position);
  CHECK(apart.launches[3].position == sums.computations[1].position);
  const QueueLaunches merged = planLaunches(sums.graph, sums.computations, true);
  REQUIRE(merged.launches.size() == 2);
  for (const PlannedLaunch& launch : merged.launches) {
    CHECK(launch.computations == std::vector<uint32_t>{0, 1});
    CHECK(launch.position == sums.computations[0].position);
    CHECK(launch.row.pointersByValue);
    CHECK(launch.row.pointers.size() == 4);
  }
  // Each has a part of the workspace to itself; apart they use the same in turn.
  CHECK(merged.launches[0].row.pointers[1].inWorkspace());
  CHECK(merged.launches[0].row.pointers[1] != merged.launches[0].row.pointers[3]);
  CHECK(merged.workspaceBytes > apart.workspaceBytes);
}

TEST_CASE("launches: the same plan gives the same text, whatever the addresses") {
  const TwoSums sums;
  TwoSums elsewhere;
  for (Computation& computation : elsewhere.computations) {
    computation.at.operands[0].offset += 4096;
  }
  const QueueLaunches a = planLaunches(sums.graph, sums.computations, true),
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
    const int64_t at = (int64_t{op.index()} + 1) << 32;
    computations.push_back({op, {{{DeviceId(0), at}}, {{DeviceId(0), at + (1 << 30)}}}, "", {}, op.index()});
  }
  const UnmergedLaunches all = unmergedLaunchesOf(graph, computations, true);
  std::map<int64_t, std::pair<int64_t, uint32_t>> parts; // by begin: bytes, computation
  for (const UnmergedLaunch& launch : all.launches) {
    for (const Range& range : launch.writes) {
      if (range.begin.inWorkspace()) {
        CHECK(range.begin.offset % arenaAlignment == 0);
        CHECK(parts.try_emplace(range.begin.offset, range.bytes, launch.computation).first->second.second ==
              launch.computation);
      }
    }
  }
  REQUIRE(parts.size() == 3);
  REQUIRE(parts.begin()->second.first % arenaAlignment != 0);
  int64_t end = 0;
  for (const auto& [begin, part] : parts) {
    CHECK(begin >= end);
    end = begin + part.first;
  }
  CHECK(end == all.workspaceBytes);
}
