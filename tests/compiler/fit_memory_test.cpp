// Plans for little memory: the parts (free ranges, profile, low-peak order, admission control) on cases
// that are small enough for arithmetic by hand, and whole pipelines under shrinking limits.
#include "compiler/compile.h"
#include "compiler/memory/admission_control.h"
#include "compiler/memory/plan_memory.h"
#include "compiler/schedule/priorities.h"
#include "compiler/schedule/schedule.h"
#include "compiler/simulate/simulate.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <random>

namespace dfc::test {
namespace {

constexpr int64_t matrixBytes = int64_t{4000} * 4000 * 4; // 64 MB

Machine shippedMachine() {
  auto machine = readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  REQUIRE(machine.ok());
  return *std::move(machine);
}

Machine withMemory(Machine machine, const std::string& device, int64_t bytes) {
  machine.devices[machine.findDevice(device)].memoryBytes = bytes;
  return machine;
}

/// The graph of the benchmark drain_to_host: products of one matrix on gpu0, each fetched. Equal products are
/// kept.
Result<Graph> drainedProducts(int count) {
  Builder g("drained");
  const auto here = g.on("gpu0");
  const Tensor x = g.parameter("x", f32({4000, 4000}), uniform(0, 1, 1));
  for (int i = 0; i < count; ++i) {
    g.fetch(fmt::format("y{}", i), matmul(x, x));
  }
  return std::move(g).finish();
}

/// Matrices come from the host, are squared on gpu0 and go back: copies in could fill the device before the
/// first product has memory for its result.
Result<Graph> streamedProducts(int count) {
  Builder g("streamed");
  for (int i = 0; i < count; ++i) {
    const Tensor x = g.input(fmt::format("x{}", i), f32({4000, 4000}));
    const auto here = g.on("gpu0");
    g.fetch(fmt::format("y{}", i), matmul(x, x));
  }
  return std::move(g).finish();
}

/// As the author's pins say: no other placement is looked for.
Result<Executable> compiled(const Result<Graph>& graph, const Machine& machine) {
  REQUIRE(graph.ok());
  CompileOptions options;
  options.policy = "pins";
  options.skipPasses = {"share_common_ops"};
  return compile(*graph, machine, RooflineCostModel(), options);
}

double makespanIn(const Result<Graph>& graph, int64_t bytes) {
  const auto plan = compiled(graph, withMemory(shippedMachine(), "gpu0", bytes));
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  CHECK(plan->memory().arenaBytes[plan->machine().findDevice("gpu0")] <= bytes);
  CHECK(simulate(*plan).makespan == Approx(plan->schedule().makespan));
  return plan->schedule().makespan;
}

StepId stepNamed(const Executable& plan, const std::string& name) {
  for (const StepId step : plan.schedule().steps.ids()) {
    if (plan.graph().nameOf(plan.schedule().steps[step].op) == name) {
      return step;
    }
  }
  FAIL("no step " + name);
  return {};
}

/// Requirements of tasks with buffers of 256 bytes on device 0; each buffer lists its users, the maker first.
MemoryRequirements requirementsOf(size_t tasks, const std::vector<std::vector<uint32_t>>& buffers) {
  MemoryRequirements requirements;
  requirements.tasks.resize(tasks);
  for (const auto& users : buffers) {
    BufferRow row{DeviceId(0), 256, false, {}};
    row.users.append(users.begin(), users.end());
    const BufferId buffer = requirements.buffers.add(row);
    requirements.tasks[users.front()].allocates.push_back(buffer);
    for (const uint32_t user : users) {
      requirements.tasks[user].uses.push_back(buffer);
    }
  }
  return requirements;
}

} // namespace

TEST_CASE("free ranges: the one that was free for longest, or the lowest") {
  FreeRanges ranges(1024);
  for (uint32_t i = 0; i < 4; ++i) { // never used is best, from below
    REQUIRE(ranges.find(256, FitRule::LeastRecentlyFreed) == int64_t{256} * i);
    CHECK(ranges.take(int64_t{256} * i, 256, BufferId(i)).empty());
  }
  CHECK_FALSE(ranges.find(256, FitRule::LeastRecentlyFreed).has_value());
  ranges.release(512, 256, 1);
  ranges.release(0, 256, 2);
  CHECK(ranges.find(256, FitRule::LeastRecentlyFreed) == 512);
  CHECK(ranges.find(256, FitRule::LowestAddress) == 0);
  CHECK_FALSE(ranges.find(512, FitRule::LowestAddress).has_value()); // free, but in two pieces
  ranges.release(256, 256, 3);
  CHECK(ranges.find(768, FitRule::LowestAddress) == 0);
  CHECK(ranges.take(0, 512, BufferId(9)) == llvm::SmallVector<BufferId, 2>{BufferId(0), BufferId(1)});
  CHECK(ranges.take(512, 256, BufferId(10)) == llvm::SmallVector<BufferId, 2>{BufferId(2)});
  CHECK_FALSE(ranges.find(1025, FitRule::LowestAddress).has_value());
}

TEST_CASE("a memory profile agrees with a plain array") {
  std::mt19937 random(5);
  const auto draw = [&](uint32_t most) { return std::uniform_int_distribution<uint32_t>(0, most)(random); };
  for (const uint32_t turns : {1U, 2U, 7U, 33U}) {
    MemoryProfile profile(turns);
    std::vector<int64_t> plain(turns);
    for (int i = 0; i < 200; ++i) {
      const uint32_t first = draw(turns);
      const uint32_t last = draw(turns);
      const int64_t bytes = int64_t{draw(200)} - 100;
      profile.add(first, last, bytes);
      for (uint32_t turn = first; turn < last; ++turn) {
        plain[turn] += bytes;
      }
      const uint32_t from = draw(turns);
      const auto most = std::max_element(plain.begin() + from, plain.end());
      CHECK(profile.most(from) == (most == plain.end() ? 0 : *most));
    }
  }
}

TEST_CASE("a low-peak order frees before it takes more") {
  // Two chains make -> use of one buffer each: one after the other needs 1 buffer, both makers first 2.
  ListProblem problem;
  problem.groupQueues = {1};
  problem.tasks.resize(4);
  problem.tasks[2].before = {0};
  problem.tasks[3].before = {1};
  const LowPeakOrder lowPeak = lowPeakOrder(problem, requirementsOf(4, {{0, 2}, {1, 3}}), {0, 1, 2, 3}, 1);
  CHECK(lowPeak.order == std::vector<uint32_t>{0, 2, 1, 3});
  CHECK(lowPeak.peak[DeviceId(0)] == 256);
}

TEST_CASE("a result overwrites the operand that nothing else needs any more, and waits for its readers") {
  // 0 makes a; 1 reads it; 2 reads it too and may overwrite it: 1 comes first, and one buffer is enough.
  ListProblem problem;
  problem.groupQueues = {1};
  problem.tasks.resize(3);
  problem.tasks[1].before = problem.tasks[2].before = {0};
  MemoryRequirements requirements = requirementsOf(3, {{0, 1, 2}, {2}});
  requirements.tasks[2].inPlaceCandidates = {BufferId(0)};
  const LowPeakOrder lowPeak = lowPeakOrder(problem, requirements, {0, 1, 2}, 1);
  CHECK(lowPeak.peak[DeviceId(0)] == 256);
  REQUIRE(lowPeak.requirements.buffers.size() == 1);
  CHECK(lowPeak.requirements.buffers[BufferId(0)].users == llvm::SmallVector<uint32_t, 4>{0, 1, 2});
  bool waits = false;
  for (const TaskOrdering& ordering : lowPeak.orderings) {
    waits |= ordering.before == 1 && ordering.after == 2;
  }
  CHECK(waits);
}

TEST_CASE("admission control keeps early copies from taking the memory that the next product needs") {
  // Copies 0, 1, 2 on one queue make a buffer each; products 3, 4, 5 on another read one, make another and
  // are all that uses it. With 2 buffers a second copy may only start when the first product has both of its
  // own: the copies have to wait for products, or nothing could ever go on.
  ListProblem problem;
  problem.groupQueues = {1, 1};
  problem.tasks.resize(6);
  std::vector<std::vector<uint32_t>> buffers;
  for (uint32_t i = 0; i < 3; ++i) {
    problem.tasks[i].seconds = 1;
    problem.tasks[i + 3] = {2, 1, {}, {i}};
    buffers.push_back({i, i + 3});
  }
  for (uint32_t i = 3; i < 6; ++i) {
    buffers.push_back({i});
  }
  const LowPeakOrder lowPeak = lowPeakOrder(problem, requirementsOf(6, buffers), {0, 2, 4, 1, 3, 5}, 1);
  SideTable<DeviceId, int64_t> available(1, 512);
  AdmissionControl admission(lowPeak, available, FitRule::LeastRecentlyFreed);
  const auto result = listSchedule(problem, upwardRanks(problem), admission);
  REQUIRE(result.has_value());
  CHECK(result->makespan == 3 * (1 + 2)); // nothing overlaps
  available[DeviceId(0)] = 768;
  AdmissionControl larger(lowPeak, available, FitRule::LeastRecentlyFreed);
  const auto overlapped = listSchedule(problem, upwardRanks(problem), larger);
  REQUIRE(overlapped.has_value());
  CHECK(overlapped->makespan == 1 + 3 * 2); // a copy beside each product
}

TEST_CASE("fit memory: results drain to the host while later products run") {
  const auto graph = drainedProducts(50);
  const double free = makespanIn(graph, int64_t{141} * 1000 * 1000 * 1000);
  // cpu-2gpu: a product takes 2 * 4000^3 / 51e12 + 2.5e-6 = 2.512 ms (and some hundredths of a percent, since
  // 125 x 125 tiles do not quite fill their waves), a copy 64e6 / 55.3e9 + 8e-6 = 1.165 ms; 50 products and
  // the last copy: 126.8 ms. With memory for x and two results a product is under way while the copy of the
  // one before ends, so nothing is lost down to 192 MB.
  const double product = 2 * 64e9 / 51e12 + 2.5e-6, copy = 64e6 / 55.3e9 + 8e-6;
  CHECK(free == Approx(50 * product + copy).epsilon(2e-4));
  for (const int64_t matrices : {8, 4, 3}) {
    INFO(matrices << " matrices");
    CHECK(makespanIn(graph, matrices * matrixBytes) == Approx(free));
  }
  // Memory for one result: product and copy take turns.
  CHECK(makespanIn(graph, 2 * matrixBytes) == Approx(50 * (product + copy)).epsilon(2e-4));
}

TEST_CASE("fit memory: with memory for seven results a product waits for the copy of the seventh before it") {
  const auto plan = compiled(drainedProducts(50), withMemory(shippedMachine(), "gpu0", 8 * matrixBytes));
  REQUIRE(plan.ok());
  const auto names = [&](int i) { return i == 0 ? std::string("matmul") : fmt::format("matmul.{}", i + 1); };
  for (int i = 7; i < 50; ++i) {
    const StepRow& step = plan->schedule().steps[stepNamed(*plan, names(i))];
    REQUIRE(step.waits.size() == 1);
    CHECK(step.waits[0] == stepNamed(*plan, names(i - 7) + "@cpu0"));
  }
}

TEST_CASE("less than any order needs is refused, with the least that was found") {
  const auto plan = compiled(drainedProducts(50), withMemory(shippedMachine(), "gpu0", 2 * matrixBytes - 1));
  REQUIRE_FALSE(plan.ok());
  REQUIRE(plan.errors().size() == 1);
  const std::string& message = plan.errors()[0].message;
  CHECK(message.find("gpu0 needs 3.26 GB but has 128 MB") == 0);
  CHECK(message.find("the least that was found is 128 MB") != std::string::npos);
  CHECK(plan.errors()[0].hint.find("no plan that the policy tried fits") == 0);
}

TEST_CASE("streaming in, computing and streaming out share little memory without a deadlock") {
  const auto graph = streamedProducts(30);
  // Each product needs its operand and its result: with memory for two matrices, copies and products take
  // turns; with three, some overlap; with four, a copy in, a product and a copy out run at once, so the bound
  // is 30 products, the first copy in and the last copy out.
  const double product = 2 * 64e9 / 51e12 + 2.5e-6;
  const double copy = 64e6 / 55.3e9 + 8e-6;
  const double two = makespanIn(graph, 2 * matrixBytes);
  const double three = makespanIn(graph, 3 * matrixBytes);
  const double four = makespanIn(graph, 4 * matrixBytes);
  CHECK(two >= 30 * (product + copy));
  CHECK(three <= two);
  CHECK(four <= 1.02 * (30 * product + 2 * copy));
}

TEST_CASE("where memory is not short, a limit changes nothing") {
  const auto graph = streamedProducts(5);
  const auto unlimited = compiled(graph, withMemory(shippedMachine(), "gpu0", 0));
  REQUIRE(unlimited.ok());
  const int64_t needed = unlimited->memory().arenaBytes[unlimited->machine().findDevice("gpu0")];
  const auto exact = compiled(graph, withMemory(shippedMachine(), "gpu0", needed));
  REQUIRE(exact.ok());
  for (const StepId step : unlimited->schedule().steps.ids()) {
    CHECK(unlimited->schedule().steps[step].op == exact->schedule().steps[step].op);
    CHECK(unlimited->schedule().steps[step].waits == exact->schedule().steps[step].waits);
    CHECK(unlimited->schedule().steps[step].start == exact->schedule().steps[step].start);
  }
  for (const ValueId value : unlimited->graph().values()) {
    CHECK(unlimited->memory().slots[value].offset == exact->memory().slots[value].offset);
  }
}

TEST_CASE("preferred offsets are kept in memory that they fill to the last byte, and given up in less") {
  Builder g("preferred");
  const Tensor x = g.input("x", f32({64}));
  const Tensor a = exp(x).named("a"), b = tanh(x).named("b"); // b in the place of x
  g.fetch("y", (a + b).named("y"));                           // y in the place of a
  const Graph graph = *std::move(g).finish();
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = "", .memoryBytes = 512});
  const PlacedGraph placed =
      insertTransfers({graph, SideTable<OpId, DeviceId>(graph.opCount(), machine.host()), "test"}, machine);
  const Schedule schedule = makeSchedule(placed, machine, RooflineCostModel());
  const auto offsetOf = [&](const MemoryPlan& plan, const char* name) {
    return plan.slots[placed.graph.findValue(name)].offset;
  };
  PreferredOffsets preferred(placed.graph.valueCount(), 0);
  preferred[placed.graph.findValue("x")] = preferred[placed.graph.findValue("b")] = 256;
  const MemoryPlan kept = packMemory(placed, schedule, machine, preferred);
  CHECK(kept.arenaBytes[DeviceId(0)] == 512);
  CHECK(offsetOf(kept, "x") == 256);
  CHECK(offsetOf(kept, "a") == 0);
  machine.devices[DeviceId(0)].memoryBytes = 511;
  const MemoryPlan without = packMemory(placed, schedule, machine, {});
  const MemoryPlan given = packMemory(placed, schedule, machine, preferred);
  for (const char* value : {"x", "a"}) {
    CHECK(offsetOf(given, value) == offsetOf(without, value));
    CHECK(offsetOf(given, value) != offsetOf(kept, value));
  }
}

} // namespace dfc::test
