// Plans on disk: the same bytes again after loading, and a located error for every way a file can be wrong.
// tests/invalid/plans/<damage>.expected holds what each damage gives, to the letter.
#include "ir/plan/executable_parts.h"

#include "ir/author/dsl.h"
#include "ir/base/atomic_file.h"
#include "ir/graph/graph.h"
#include "ir/plan/file/executable_format.h"
#include "ir/plan/file/executable_schema.h"
#include "runtime/executable_folder.h"
#include "tests/ir/plan/plan_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

using namespace dfc;
using test::HandPlan;

namespace {

using Bytes = std::vector<std::byte>;

Bytes goodFile() {
  const Result<Executable> plan = HandPlan().seal();
  REQUIRE(plan.ok());
  return plan->serialise();
}

Bytes bytesOf(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void putSize(Bytes& file, size_t at, uint64_t size) { std::memcpy(file.data() + at, &size, sizeof(size)); }

/// The file as if the plan inside were this: sizes and checksum are right.
Bytes around(const Bytes& plan, const Bytes& constants = {}) { return wrapPlan({plan, constants}); }

Bytes planOf(const Bytes& file) { return {file.begin() + 32, file.end()}; }

/// The first occurrence of `from` in the file's plan replaced by as many other bytes, and the checksum
/// renewed.
Bytes reworded(const Bytes& file, std::string_view from, std::string_view to) {
  REQUIRE(from.size() == to.size());
  Bytes plan = planOf(file);
  const Bytes wanted = bytesOf(from);
  const Bytes put = bytesOf(to);
  const auto found = std::search(plan.begin(), plan.end(), wanted.begin(), wanted.end());
  REQUIRE(found != plan.end());
  std::copy(put.begin(), put.end(), found);
  return around(plan);
}

void checkDamage(const std::string& name, const Bytes& file) {
  INFO(name);
  const Result<Executable> plan = Executable::parse(file, "plan.dfcp");
  REQUIRE_FALSE(plan.ok());
  test::checkAgainstFile(shippedFile("tests/invalid/plans/" + name + ".expected"), render(plan.errors()));
}

/// Seconds of the longest chain of ops, where each takes one.
double longestChain(const HandPlan& plan) {
  SideTable<OpId, double> ends(plan.placed.graph.opCount(), 0);
  double longest = 0;
  for (const OpId op : plan.placed.graph.ops()) {
    for (const ValueId operand : plan.placed.graph[op].operands) {
      ends[op] = std::max(ends[op], ends[plan.placed.graph[operand].producer]);
    }
    ends[op] += plan.placed.isResident(op) ? 0 : 1;
    longest = std::max(longest, ends[op]);
  }
  return longest;
}

/// A plan of one op on one device, made straight from a graph: for attributes of every kind.
HandPlan planOfGraph(Graph graph) {
  HandPlan plan;
  plan.placed = PlacedGraph();
  plan.schedule = Schedule();
  plan.machine.devices[DeviceId(0)].memoryBytes = 0;
  plan.placed.graph = std::move(graph);
  const Graph& placed = plan.placed.graph;
  plan.placed.device.resize(placed.opCount(), DeviceId(0));
  const QueueId queue = plan.schedule.queues.add({DeviceId(0), QueueKind::Compute, 0, {}});
  plan.schedule.stepOf.resize(placed.opCount());
  plan.memory.slots.resize(placed.valueCount());
  int64_t next = 0;
  const auto place = [&](bool resident) {
    for (const OpId op : placed.ops()) {
      for (const ValueId value : placed[op].results()) {
        if (plan.placed.isResident(op) == resident) {
          plan.memory.slots[value] = {DeviceId(0), next, placed.typeOf(value).bytes()};
          next += (placed.typeOf(value).bytes() + 255) / 256 * 256;
        }
      }
    }
  };
  place(true);
  plan.memory.residentBytes[DeviceId(0)] = next;
  place(false);
  plan.memory.arenaBytes[DeviceId(0)] = plan.memory.lowerBound[DeviceId(0)] = next;
  for (const OpId op : placed.ops()) {
    if (plan.placed.isResident(op)) {
      continue;
    }
    auto& steps = plan.schedule.queues[queue].steps;
    const double start = static_cast<double>(steps.size());
    plan.schedule.stepOf[op] =
        plan.schedule.steps.add({op, queue, static_cast<uint32_t>(steps.size()), {}, start, start + 1});
    steps.push_back(plan.schedule.stepOf[op]);
    if (classOf(placed[op].kind()) == OpClass::View) {
      plan.memory.slots[placed[op].firstResult].offset = plan.memory.slots[placed[op].operands[0]].offset;
    }
  }
  plan.schedule.makespan = static_cast<double>(plan.schedule.steps.size());
  plan.schedule.bounds = {longestChain(plan), plan.schedule.makespan, 0}; // one queue does all, a second each
  plan.schedule.steady = {plan.schedule.makespan, plan.schedule.makespan};
  return plan;
}

Literal oddDoubles() {
  const std::vector<double> values = {-0.0, 5e-324, std::numeric_limits<double>::infinity(), std::nan("7"),
                                      1.0 / 3};
  return Literal(Shape({5}), std::span<const double>(values));
}

Graph everyKindOfAttribute() {
  Builder g("every kind");
  const Tensor c = g.constant(oddDoubles());
  const auto guard = g.scope("outer/inner", "cpu0");
  const Tensor start = g.parameter("p", f64({5}), uniform(-0.0, 1e-300, -7));
  const Tensor sum = (c + start).named("sum \"quoted\" \u00e9");
  const Tensor rows = reshape(sum, {5, 1});
  const Tensor product = matmul(rows, rows, {true, false});
  const Tensor less = compare(product, 0.5, Direction::Lt);
  g.fetch("less", less);
  g.fetch("number", cast(less, ElementType::BF16));
  g.fetch("padded", pad(product, {1, 0}, {0, 2}, {}, -0.0));
  g.fetch("empty", g.constant(Literal(f32({0, 3}))));
  Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

} // namespace

TEST_CASE("executable: loading gives the same bytes again") {
  const Bytes file = goodFile();
  const Result<Executable> again = Executable::parse(file, "plan.dfcp");
  INFO(render(again.errors()));
  REQUIRE(again.ok());
  CHECK(again->serialise() == file);
  CHECK(again->policy() == "by hand");
  CHECK(again->graph().name() == "by hand");
  CHECK(again->schedule().stepOf.size() == 12);
  CHECK(again->placed().transfers.size() == 3);
  CHECK(printMachine(again->machine()) == printMachine(HandPlan().machine));
}

TEST_CASE("executable: every kind of attribute survives, bit for bit") {
  const HandPlan plan = planOfGraph(everyKindOfAttribute());
  const Result<Executable> sealed = plan.seal();
  INFO((sealed.ok() ? "" : render(sealed.errors())));
  REQUIRE(sealed.ok());
  const Bytes file = sealed->serialise();
  const Result<Executable> again = Executable::parse(file, "plan.dfcp");
  INFO((again.ok() ? "" : render(again.errors())));
  REQUIRE(again.ok());
  CHECK(again->serialise() == file);
  const Graph& graph = again->graph();
  REQUIRE(graph.opCount() == plan.placed.graph.opCount());
  for (const OpId op : graph.ops()) {
    INFO(graph.nameOf(op));
    CHECK(sameAttributes(graph[op].attributes, plan.placed.graph[op].attributes));
    CHECK(graph.nameOf(op) == plan.placed.graph.nameOf(op));
    CHECK(graph.scopeOf(op) == plan.placed.graph.scopeOf(op));
    CHECK(graph.pinOf(op) == plan.placed.graph.pinOf(op));
    CHECK(graph.locationOf(op) == plan.placed.graph.locationOf(op));
  }
}

TEST_CASE("executable: saving and loading a file") {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "plan.dfcp";
  const Result<Executable> plan = HandPlan().seal();
  REQUIRE(plan->save(path.string()).ok());
  const Result<Executable> again = Executable::load(path.string());
  REQUIRE(again.ok());
  CHECK(again->serialise() == plan->serialise());
  std::filesystem::remove(path);
  CHECK(Executable::load(path.string()).errors().front().message == "cannot open: No such file or directory");
}

TEST_CASE("executable: each damage of the file gives its error") {
  // Damage to the envelope is found before what is in it, so zeros do inside: 32 + 4064 = 4096 bytes, with
  // every version of FlatBuffers.
  const Bytes good = around(Bytes(4064));
  REQUIRE(good.size() == 4096);
  checkDamage("empty", {});
  checkDamage("truncated_in_magic", {good.begin(), good.begin() + 5});
  checkDamage("truncated_in_header", {good.begin(), good.begin() + 20});
  checkDamage("truncated_in_half",
              {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(good.size() / 2)});
  checkDamage("truncated_by_one", {good.begin(), good.end() - 1});
  checkDamage("foreign_text", bytesOf("graph mlp {\n  x = input f32[2]\n}\n"));
  checkDamage("foreign_short", bytesOf("{}"));

  Bytes file = good;
  file.push_back(std::byte{0});
  checkDamage("one_byte_too_many", file);
  file = good;
  file[8] = std::byte{255}; // a format version that does not come soon
  checkDamage("newer_version", file);
  file = good;
  file[good.size() / 2] ^= std::byte{0x10};
  checkDamage("flipped_bit", file);
  file = good;
  file[13] ^= std::byte{1};
  checkDamage("flipped_checksum", file);
  file = good;
  putSize(file, 16, std::numeric_limits<uint64_t>::max());
  checkDamage("absurd_plan_size", file);
  file = good;
  putSize(file, 24, uint64_t{1} << 40);
  checkDamage("absurd_constants_size", file);
}

TEST_CASE("executable: a right checksum around wrong contents gives its error") {
  const Bytes good = goodFile();
  checkDamage("no_plan_inside", around({}));
  checkDamage("zeros_inside", around(Bytes(4096)));
  checkDamage("text_inside", around(bytesOf(std::string(500, 'x'))));
  checkDamage("constants_too_many", around(planOf(good), Bytes(8)));
  checkDamage("unknown_op", reworded(good, "transfer", "transfix"));
  checkDamage("unknown_attribute", reworded(good, "initialiser", "initialises"));
  checkDamage("unknown_choice", reworded(good, "zeros", "zeroz"));
  checkDamage("unknown_element_type", reworded(good, "f32", "f33"));
  checkDamage("another_type", reworded(good, "f32", "f64"));
  checkDamage("broken_machine", reworded(good, "\"bandwidth\": 1024", "\"bandwidth\": -102"));
  checkDamage("another_machine", reworded(good, "\"mem\": 4096", "\"mem\": 2048"));
  checkDamage("clashing_names", reworded(good, "w.next", "w@gpu0"));
}

TEST_CASE("executable: a constant cut short is no constant") {
  const Result<Executable> sealed = planOfGraph(everyKindOfAttribute()).seal();
  REQUIRE(sealed.ok());
  const Bytes file = sealed->serialise();
  const Result<PlanParts> parts = unwrapPlan(file, "plan.dfcp");
  REQUIRE(parts.ok());
  const Bytes cut = wrapPlan({parts->plan, parts->constants.first(parts->constants.size() - 1)});
  const Result<Executable> plan = Executable::parse(cut, "plan.dfcp");
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.errors().front().message ==
        "damaged: op 5 (constant): attribute 'value' has no value of its kind");
}

TEST_CASE("executable: no prefix and no altered byte is accepted") {
  const Bytes good = goodFile();
  for (size_t length = 0; length < good.size(); ++length) {
    CHECK_FALSE(Executable::parse({good.data(), length}, "plan.dfcp").ok());
  }
  for (size_t at = 0; at < good.size(); ++at) {
    Bytes file = good;
    file[at] ^= std::byte{0x40};
    CHECK_FALSE(Executable::parse(file, "plan.dfcp").ok());
  }
}

// The vector of arena sizes, four bytes early: its old size word becomes the low half of the first element.
// FlatBuffers' verifier (2.0.8) accepts it.
TEST_CASE("executable: 8-byte numbers at an odd multiple of four are damage") {
  Bytes plan = planOf(goodFile());
  const auto* buffer = reinterpret_cast<const uint8_t*>(plan.data());
  const file::Plan* root = file::GetPlan(buffer);
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(root);
  const auto field = static_cast<size_t>(table->GetAddressOf(file::Plan::VT_ARENA_BYTES) - buffer);
  const auto size = static_cast<size_t>(reinterpret_cast<const uint8_t*>(root->arena_bytes()) - buffer);
  const auto early = static_cast<uint32_t>(size - 4 - field);
  std::memcpy(plan.data() + field, &early, sizeof(early));
  const uint32_t one = 1;
  std::memcpy(plan.data() + size - 4, &one, sizeof(one));
  const Result<Executable> parsed = Executable::parse(around(plan), "plan.dfcp");
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.errors().front().message == "damaged: its contents do not follow the plan format");
}

TEST_CASE("executable: altered bytes under a right checksum never crash") {
  const Bytes good = planOf(goodFile());
  size_t accepted = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const uint8_t pattern : {0x01, 0x80, 0xff}) {
      Bytes plan = good;
      plan[at] ^= std::byte{pattern};
      const Result<Executable> parsed = Executable::parse(around(plan), "plan.dfcp");
      accepted += parsed.ok() ? 1 : 0;
      CHECK((parsed.ok() || !render(parsed.errors()).empty()));
    }
  }
  CHECK(accepted < good.size()); // a name, a line number or a seed may change; most bytes may not
}
