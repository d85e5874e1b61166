// Peer reads in place of copies keep the order of all other commands and cause no data race; a read that
// would make the waits cyclic stays a copy.
#include "tests/conformance/command_graph.h"
#include "tests/conformance/peer_plans.h"
#include "tests/conformance/queue_on_paper.h"

#include "compiler/lower/peer_reads.h"
#include "ir/machine/machine.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/relowered.h"

#include <fmt/format.h>

using namespace dfc;
using namespace dfc::test;
using cuda::choosePeerReads;
using cuda::lowerPeerReads;

namespace {

/// What a command waits for, in an order that does not matter to it.
auto waitsOf(const Command& command) {
  std::vector<std::tuple<const ProgressWord*, uint64_t, uint64_t>> waits;
  for (const WaitFor& wait : command.waits) {
    waits.emplace_back(wait.word, wait.perStep, wait.offset);
  }
  llvm::sort(waits);
  return waits;
}

void checkSame(const Command& actual, const Command& expected) {
  CHECK(actual.kind == expected.kind);
  CHECK(actual.publishes == expected.publishes);
  CHECK(actual.operands == expected.operands);
  CHECK(actual.results == expected.results);
  REQUIRE(actual.waits.size() == expected.waits.size());
  CHECK((waitsOf(actual) == waitsOf(expected))); // not printed: they are addresses
}

} // namespace

TEST_CASE("peer reads: a plan without them keeps its programs") {
  const Plan plan = exchangingNet(64);
  const ProgramsOnPaper paper(relowered(*plan, {.peerReads = false}));
  REQUIRE(paper.plan->launches().peers.reads.empty());
  const std::vector<Program>& planned = paper.planned.programs;
  REQUIRE(paper.programs.size() == planned.size());
  for (size_t i = 0; i < planned.size(); ++i) {
    REQUIRE(paper.programs[i].commands.size() == planned[i].commands.size());
    for (size_t k = 0; k < planned[i].commands.size(); ++k) {
      INFO("program " << i << ", command " << k);
      checkSame(paper.programs[i].commands[k], planned[i].commands[k]);
    }
  }
}

TEST_CASE("peer reads: both or neither of two transfers that one op waits for in turn") {
  Builder g("two");
  const auto doubled = [&](const char* of, const char* name) {
    const auto there = g.on("gpu1");
    return (g.parameter(of, f32({64})) * 2).named(name);
  };
  const Tensor a = doubled("p", "a"), b = doubled("q", "b");
  {
    const auto here = g.on("gpu0");
    g.fetch("sum", (a + b).named("sum"));
  }
  const Plan plan = tinyPlan(requireGraph(std::move(g)), smallMachine(2), true);
  const auto chosen = choosePeerReads(stagesOf(*plan), everywhere);
  REQUIRE(written(*plan, chosen) == "a@gpu0 by sum, b@gpu0 by sum");
  const PeerReads both = lowerPeerReads(plan->schedule(), chosen);
  CHECK(both.reads == chosen);
  CHECK(both.waits[chosen[0].reader] == StepList{stepNamed(*plan, "b")}); // behind a on its queue
  // The first alone: the copy of b comes behind it, so behind the sum, which needs b.
  const PeerReads cycle = lowerPeerReads(plan->schedule(), {chosen[0]});
  CHECK(cycle.reads.empty());
  const std::vector<StepId> order = orderOf(plan->schedule(), cycle.waits);
  for (const StepId step : plan->schedule().steps.ids()) {
    CHECK(order[step.index()] == step);
    CHECK(cycle.waits[step] == StepList(plan->schedule().steps[step].waits));
  }
  const PeerReads second = lowerPeerReads(plan->schedule(), {chosen[1]});
  CHECK(second.reads.size() == 1);
}

TEST_CASE("peer reads: GPUs that read one another's values at once make no copy") {
  constexpr int gpus = 4, rounds = 3;
  Builder g("exchange");
  std::vector<Tensor> parts;
  for (int i = 0; i < gpus; ++i) {
    const auto there = g.on(fmt::format("gpu{}", i));
    parts.push_back(g.parameter(fmt::format("p{}", i), f32({64})) * 2);
  }
  for (int round = 0; round < rounds; ++round) {
    std::vector<Tensor> sums;
    for (int i = 0; i < gpus; ++i) {
      const auto there = g.on(fmt::format("gpu{}", i));
      sums.push_back(exp(parts[0] + parts[1] + parts[2] + parts[3]));
    }
    parts = std::move(sums);
  }
  for (int i = 0; i < gpus; ++i) {
    g.fetch(fmt::format("out{}", i), parts[static_cast<size_t>(i)]);
  }
  const auto machine = readMachine(shippedFile("samples/machines/cpu-8gpu-nvlink.json").string());
  REQUIRE(machine.ok());
  const Plan plan = requirePlan(requireGraph(std::move(g)), *machine);
  const auto chosen = choosePeerReads(stagesOf(*plan), everywhere);
  CHECK(chosen.size() == rounds * gpus * (gpus - 1));
  CHECK(lowerPeerReads(plan->schedule(), chosen).reads == chosen);
  const Schedule& schedule = plan->schedule();
  for (const PeerRead& read : chosen) { // no queue orders it among copies for others
    CHECK(schedule.steps[read.transfer].queue == schedule.steps[read.reader].queue);
  }
}

TEST_CASE("peer reads: updates that read from peers are merged") {
  const Plan small = exchangingNet(64), large = exchangingNet(8192);
  checkGolden("launches/mlp_exchange_64_copies.txt", QueueOnPaper(small, true).listing());
  checkGolden("launches/mlp_exchange_64_peers.txt", QueueOnPaper(small, true, true).listing());
  checkGolden("launches/mlp_exchange_8192_copies.txt", QueueOnPaper(large, true).listing());
  checkGolden("launches/mlp_exchange_8192_peers.txt", QueueOnPaper(large, true, true).listing());
}

namespace {

void checkOrder(const ProgramsOnPaper& paper) {
  const Schedule& schedule = paper.plan->schedule();
  SideTable<StepId, bool> done(schedule.steps.size());
  REQUIRE(paper.order.size() == schedule.steps.size());
  for (const StepId step : paper.order) {
    const StepRow& row = schedule.steps[step];
    CHECK_FALSE(done[step]);
    done[step] = true;
    CHECK((row.position == 0 || done[schedule.queues[row.queue].steps[row.position - 1]]));
    for (const StepId wait : paper.plan->launches().waitsOf(schedule, step)) {
      CHECK(done[wait]);
      CHECK(schedule.steps[wait].queue != row.queue);
    }
  }
}

// The happens-before relation is kept, with the reader in the place of a replaced transfer.
void checkAllOrdersKept(const ProgramsOnPaper& paper) {
  const CommandGraph before(paper.planned.programs, paper.board), now(paper.programs, paper.board);
  REQUIRE(now.size() == before.size());
  REQUIRE(before.acyclic());
  REQUIRE(now.acyclic());
  CHECK(now.published());
  CHECK(before.races() == 0);
  CHECK(now.races() == 0);
  std::vector<size_t> stands(before.size());
  for (size_t i = 0; i < stands.size(); ++i) {
    stands[i] = i;
  }
  for (const PeerRead& read : paper.plan->launches().peers.reads) {
    stands[before.of(read.transfer)] = before.of(read.reader);
  }
  size_t lost = 0;
  for (size_t a = 0; a < stands.size(); ++a) {
    for (size_t b = 0; b < stands.size(); ++b) {
      lost += before.after(a, b) && stands[a] != stands[b] && !now.after(stands[a], stands[b]) ? 1 : 0;
    }
  }
  CHECK(lost == 0);
}

/// Whether the waits would be cyclic with all of these transfers in the places of their readers: whether
/// edges are left after those from steps without predecessors are removed repeatedly.
bool cyclic(const Schedule& schedule, llvm::ArrayRef<PeerRead> reads) {
  SideTable<StepId, StepId> stands(schedule.steps.size());
  for (const StepId step : schedule.steps.ids()) {
    stands[step] = step;
  }
  for (const PeerRead& read : reads) {
    stands[read.transfer] = read.reader;
  }
  std::vector<std::pair<StepId, StepId>> edges;
  const auto addEdge = [&](StepId before, StepId step) {
    if (stands[before] != stands[step]) {
      edges.emplace_back(stands[before], stands[step]);
    }
  };
  for (const StepId step : schedule.steps.ids()) {
    const StepRow& row = schedule.steps[step];
    if (row.position > 0) {
      addEdge(schedule.queues[row.queue].steps[row.position - 1], step);
    }
    llvm::for_each(row.waits, [&](StepId wait) { addEdge(wait, step); });
  }
  size_t left = edges.size() + 1;
  while (edges.size() < left) {
    left = edges.size();
    SideTable<StepId, bool> behind(schedule.steps.size());
    llvm::for_each(edges, [&](const auto& edge) { behind[edge.second] = true; });
    llvm::erase_if(edges, [&](const auto& edge) { return !behind[edge.first]; });
  }
  return left > 0;
}

// All chosen reads are kept, in their order, unless all together would make the waits cyclic.
void checkReads(const Executable& plan, const std::vector<PeerRead>& chosen) {
  const std::vector<PeerRead>& reads = plan.launches().peers.reads;
  INFO(written(plan, reads) << " of " << written(plan, chosen));
  CHECK((reads != chosen) == cyclic(plan.schedule(), chosen));
  auto at = chosen.begin();
  for (const PeerRead& read : reads) {
    at = std::find(at, chosen.end(), read);
    REQUIRE(at != chosen.end());
    ++at;
  }
}

} // namespace

TEST_CASE("peer reads: random plans keep every order and have no data race") {
  size_t reads = 0, chosen = 0;
  const auto check = [&](const Executable& plan) {
    const ProgramsOnPaper paper(relowered(plan, {}));
    const auto all = choosePeerReads(stagesOf(plan), [&](DeviceId a, DeviceId b) {
      const auto& devices = plan.machine().devices;
      return devices[a].kind == DeviceKind::Gpu && devices[b].kind == DeviceKind::Gpu;
    });
    checkReads(*paper.plan, all);
    checkOrder(paper);
    checkAllOrdersKept(paper);
    const size_t made = paper.plan->launches().peers.reads.size();
    reads += made;
    chosen += all.size();
    return made;
  };
  for (uint64_t seed = 0; seed < 120; seed += 2) {
    INFO("seed " << seed);
    check(*scatteredPlan(seed, 30 + seed, 400));
  }
  CHECK(reads > 100);    // else little is tested
  CHECK(chosen > reads); // and cycles occur
  for (const int64_t batch : {64, 1024, 8192}) {
    INFO("batch " << batch);
    CHECK(check(*exchangingNet(batch)) > 0);
  }
  for (const size_t gpus : {2, 3, 4}) {
    for (const AllReduce form : {AllReduce::Exchange, AllReduce::Scatter, AllReduce::Ring}) {
      INFO(gpus << " GPUs, form " << static_cast<int>(form));
      CHECK(check(*reducingNet(960, form, gpus)) > 0);
    }
  }
}
