// From the requirements of a placed graph to an order that needs little memory, and to static offsets for it.
#include "compiler/cost/cost_model.h"
#include "compiler/memory/static_offsets.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"

#include <llvm/ADT/STLExtras.h>

#include <numeric>

namespace dfc::test {
namespace {

struct SizedBuffer {
  int64_t bytes = 0;
  std::vector<uint32_t> users; ///< the first one makes it
};

MemoryRequirements requirementsWith(size_t tasks, const std::vector<SizedBuffer>& buffers) {
  MemoryRequirements requirements;
  requirements.tasks.resize(tasks);
  for (const SizedBuffer& wanted : buffers) {
    BufferRow row{DeviceId(0), wanted.bytes, false, {}};
    row.users.append(wanted.users.begin(), wanted.users.end());
    const BufferId buffer = requirements.buffers.add(row);
    requirements.tasks[wanted.users.front()].allocates.push_back(buffer);
    for (const uint32_t user : wanted.users) {
      requirements.tasks[user].uses.push_back(buffer);
    }
  }
  return requirements;
}

ListProblem problemOf(const std::vector<std::vector<uint32_t>>& before) {
  ListProblem problem;
  problem.groupQueues = {1};
  problem.tasks.resize(before.size());
  for (size_t task = 0; task < before.size(); ++task) {
    problem.tasks[task].before.append(before[task].begin(), before[task].end());
  }
  return problem;
}

} // namespace

TEST_CASE("memory requirements: shared storage by views and state, operands that may be overwritten") {
  auto machine = readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  REQUIRE(machine.ok());
  Builder g("update");
  const Tensor x = g.input("x", f32({64}));
  const auto here = g.on("gpu0");
  const Tensor w = g.parameter("w", f32({64}), constantInit(1));
  const Tensor y = (x * w).named("y");
  const Tensor view = reshape(y, {8, 8}).named("view");
  g.fetch("z", relu(view).named("z"));
  g.assign(w, (w * 0.5).named("next"));
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  Placement placement{*graph, SideTable<OpId, DeviceId>(graph->opCount(), machine->findDevice("gpu0")),
                      "test"};
  placement.device[(*graph)[graph->findValue("x")].producer] = machine->host();
  const PlacedGraph placed = insertTransfers(placement, *machine);
  const ScheduleProblem problem = scheduleProblem(placed, *machine, RooflineCostModel());
  const MemoryRequirements requirements = memoryRequirements(placed, problem, {machine->findDevice("gpu0")});
  const auto bufferOf = [&](const char* name) { return requirements.of[placed.graph.findValue(name)]; };
  const auto taskOf = [&](const char* name) {
    return requirements.tasks[problem.taskOf[placed.graph[placed.graph.findValue(name)].producer]];
  };
  CHECK_FALSE(bufferOf("w").valid());
  CHECK_FALSE(bufferOf("next").valid()); // computed in w's storage: y, the other reader, is ordered before
  REQUIRE(bufferOf("y").valid());
  CHECK(bufferOf("view") == bufferOf("y"));
  CHECK(requirements.buffers[bufferOf("y")].bytes == 64 * 4);
  CHECK(bufferOf("z") != bufferOf("y"));
  CHECK(taskOf("z").inPlaceCandidates == llvm::SmallVector<BufferId, 1>{bufferOf("y")});
  CHECK(taskOf("z").allocates == llvm::SmallVector<BufferId, 1>{bufferOf("z")});
}

TEST_CASE("memory requirements: what is fetched through a view keeps its buffer to the end") {
  auto machine = readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  REQUIRE(machine.ok());
  Builder g("fetched view");
  const Tensor y = exp(g.input("x", f32({64}))).named("y");
  g.fetch("view", reshape(y, {8, 8}).named("view"));
  const Graph graph = *std::move(g).finish();
  const Placement placement{graph, SideTable<OpId, DeviceId>(graph.opCount(), machine->host()), "test"};
  const PlacedGraph placed = insertTransfers(placement, *machine);
  const ScheduleProblem problem = scheduleProblem(placed, *machine, RooflineCostModel());
  const MemoryRequirements requirements = memoryRequirements(placed, problem, {machine->host()});
  const BufferId buffer = requirements.of[placed.graph.findValue("y")];
  REQUIRE(buffer.valid());
  CHECK(requirements.of[placed.graph.findValue("view")] == buffer);
  CHECK(requirements.buffers[buffer].liveOut);
  CHECK_FALSE(requirements.buffers[requirements.of[placed.graph.findValue("x")]].liveOut);
}

TEST_CASE("low-peak order: tasks that only allocate go by rank, whatever they allocate") {
  const ListProblem problem = problemOf({{}, {}});
  const auto lowPeak = lowPeakOrder(problem, requirementsWith(2, {{512, {0}}, {256, {1}}}), {0, 1}, 1);
  CHECK(lowPeak.order == std::vector<uint32_t>{0, 1});
}

TEST_CASE("low-peak order: a ready task that becomes a buffer's last user goes first") {
  // 0 makes a buffer for 1 and 2. After 1, task 2 is its last user and frees it; 3, of a smaller rank than 2,
  // frees nothing.
  const ListProblem problem = problemOf({{}, {0}, {0}, {1}});
  const auto lowPeak = lowPeakOrder(problem, requirementsWith(4, {{256, {0, 1, 2}}}), {0, 1, 3, 2}, 1);
  CHECK(lowPeak.order == std::vector<uint32_t>{0, 1, 2, 3});
}

TEST_CASE("ranks by need: updates that wait for a flag come behind it, one after the other") {
  // Two gradients, 0 and 1; the new moments 2 and 3; the flag 4, which waits for both gradients; 5 and 6
  // read the gradients again and write the moments where the flag says so.
  const ListProblem problem = problemOf({{}, {}, {0}, {1}, {0, 1}, {2, 4}, {3, 4}});
  CHECK(ranksByNeed(problem) == std::vector<uint32_t>{0, 1, 2, 5, 3, 4, 6});
  const auto requirements = requirementsWith(
      7, {{256, {0, 2, 4, 5}}, {256, {1, 3, 4, 6}}, {512, {2, 5}}, {512, {3, 6}}, {64, {4, 5, 6}}});
  const std::vector<uint32_t> byGraph = {0, 1, 2, 3, 4, 5, 6};
  CHECK(lowPeakOrder(problem, requirements, byGraph, 1).peak[DeviceId(0)] == 2 * 256 + 2 * 512 + 64);
  CHECK(lowPeakOrder(problem, requirements, ranksByNeed(problem), 1).peak[DeviceId(0)] == 2 * 256 + 512 + 64);
}

TEST_CASE("low-peak order: copies of state when they are needed keep gradients from gathering") {
  // Two gradients, 0 and 1, one after the other. 2 and 3 copy state, 4 and 5 make small values of a gradient,
  // 6 and 7 update the state in its bytes, 8 and 9 copy it back.
  const ListProblem problem = problemOf({{}, {0}, {}, {}, {0}, {1}, {0, 2, 4}, {1, 3, 5}, {6}, {7}});
  const auto requirements = requirementsWith(
      10,
      {{4096, {0, 4, 6}}, {4096, {1, 5, 7}}, {2048, {2, 6, 8}}, {2048, {3, 7, 9}}, {4, {4, 6}}, {4, {5, 7}}});
  std::vector<uint32_t> byGraph(10);
  std::iota(byGraph.begin(), byGraph.end(), 0U);
  const auto atStart = lowPeakOrder(problem, requirements, byGraph, 1);
  CHECK(atStart.peak[DeviceId(0)] > 2 * 4096);
  const auto whenNeeded = lowPeakOrder(problem, requirements, byGraph, 1, Sources::WhenNeeded);
  CHECK(whenNeeded.order == std::vector<uint32_t>{0, 4, 2, 6, 8, 1, 5, 3, 7, 9});
  CHECK(whenNeeded.peak[DeviceId(0)] == 4096 + 2048 + 4);
}

TEST_CASE("low-peak order: micro-batches come one after the other, the update behind all") {
  // 0 and 1 are the forward passes of two micro-batches, 2 and 3 their backward passes, 4 the update.
  ListProblem problem = problemOf({{}, {}, {0}, {1}, {2, 3}});
  for (uint32_t task = 0; task < 4; ++task) {
    problem.tasks[task].microBatch = task % 2;
  }
  const auto lowPeak =
      lowPeakOrder(problem, requirementsWith(5, {{256, {0, 2}}, {256, {1, 3}}}), {0, 1, 2, 3, 4}, 1);
  CHECK(lowPeak.order == std::vector<uint32_t>{0, 2, 1, 3, 4});
  CHECK(lowPeak.peak[DeviceId(0)] == 256);
}

TEST_CASE("static offsets: a reused offset waits for every user of its previous buffer") {
  // Buffer 0 is made by task 0 and read by 1 and 2; task 3, which comes after them, makes another for 4.
  const ListProblem problem = problemOf({{}, {0}, {0}, {}, {3}});
  const auto lowPeak =
      lowPeakOrder(problem, requirementsWith(5, {{256, {0, 1, 2}}, {256, {3, 4}}}), {0, 1, 2, 3, 4}, 1);
  REQUIRE(lowPeak.order == std::vector<uint32_t>{0, 1, 2, 3, 4});
  const auto fixed = assignStaticOffsets(lowPeak, SideTable<DeviceId, int64_t>(1, 256));
  REQUIRE(fixed.has_value());
  CHECK(fixed->offsets[BufferId(0)] == 0);
  CHECK(fixed->offsets[BufferId(1)] == 0);
  for (const uint32_t user : {0U, 1U, 2U}) {
    CHECK(llvm::any_of(fixed->orderings, [&](const TaskOrdering& ordering) {
      return ordering.before == user && ordering.after == 3;
    }));
  }
  CHECK_FALSE(assignStaticOffsets(lowPeak, SideTable<DeviceId, int64_t>(1, 255)).has_value());
}

TEST_CASE("low-peak order: a fetched result that overwrites an operand keeps the buffer to the end") {
  // Task 1 overwrites the buffer of task 0 with a result that is fetched; task 2 makes another buffer.
  const ListProblem problem = problemOf({{}, {0}, {1}});
  MemoryRequirements requirements = requirementsWith(3, {{256, {0, 1}}, {256, {1}}, {256, {2}}});
  requirements.tasks[1].inPlaceCandidates = {BufferId(0)};
  requirements.buffers[BufferId(1)].liveOut = true;
  const auto lowPeak = lowPeakOrder(problem, requirements, {0, 1, 2}, 1);
  REQUIRE(lowPeak.requirements.buffers.size() == 2);
  CHECK(lowPeak.requirements.buffers[BufferId(0)].liveOut);
  CHECK(lowPeak.peak[DeviceId(0)] == 512);
  CHECK_FALSE(assignStaticOffsets(lowPeak, SideTable<DeviceId, int64_t>(1, 256)).has_value());
  CHECK(assignStaticOffsets(lowPeak, SideTable<DeviceId, int64_t>(1, 512)).has_value());
}

} // namespace dfc::test
