// Kernels that read a peer's memory in place of a copy: which transfers that is right for, that everything
// else keeps its order and no two commands race for bytes, and that results keep their bits.
#include "tests/conformance/contenders.h"
#include "tests/conformance/queue_on_paper.h"

#include "compiler/compile.h"
#include "ir/dsl.h"
#include "ir/rewriter.h"
#include "runtime/cuda/launches/peer_programs.h"
#include "runtime/cuda/launches/segments.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/random_graph.h"
#include "tests/support/tiny_plan.h"
#include "tools/bench/graphs/net.h"

#include <fmt/format.h>

#include <map>

using namespace dfc;
using namespace dfc::test;
using cuda::choosePeerReads;
using cuda::lowerPeerReads;
using cuda::PeerRead;
using cuda::PeerReads;

namespace {

using Plan = std::shared_ptr<const Executable>;

bool everywhere(DeviceId /*reader*/, DeviceId /*owner*/) { return true; }

Graph finished(Builder& builder) {
  auto graph = std::move(builder).finish();
  INFO((graph.ok() ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Plan compiled(const Graph& graph, const Machine& machine) {
  auto plan = compile(graph, machine, RooflineCostModel());
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  return std::make_shared<const Executable>(*std::move(plan));
}

std::string nameOf(const Executable& plan, StepId step) {
  return std::string(plan.graph().nameOf(plan.schedule().steps[step].op));
}

/// "y@gpu0 by z, …"
std::string written(const Executable& plan, const std::vector<PeerRead>& reads) {
  std::vector<std::string> texts;
  for (const PeerRead& read : reads) {
    texts.push_back(fmt::format("{} by {}", nameOf(plan, read.transfer), nameOf(plan, read.reader)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

StepId stepNamed(const Executable& plan, std::string_view name) {
  for (const StepId step : plan.schedule().steps.ids()) {
    if (nameOf(plan, step) == name) {
      return step;
    }
  }
  FAIL("no step " << name);
  return {};
}

/// A value made on gpu1 from state, and what `use` makes of it on gpu0.
template <class Use>
Plan exchangePlan(Shape shape, const Use& use) {
  Builder g("exchange");
  const TensorType type{ElementType::F32, std::move(shape)};
  Tensor made = [&] {
    const auto there = g.on("gpu1");
    return (g.parameter("p", type) * 2).named("made");
  }();
  {
    const auto here = g.on("gpu0");
    use(g, made, g.parameter("w", type));
  }
  return tinyPlan(finished(g), smallMachine(2), true);
}

Plan updatePlan(Shape shape = {64}) {
  return exchangePlan(std::move(shape),
                      [](Builder& g, Tensor made, Tensor w) { g.assign(w, (w - made).named("next")); });
}

/// B3's net on two H200s, gradients exchanged.
Plan netPlan(int64_t batch) {
  bench::NetSpec spec;
  spec.batch = batch;
  spec.workers = {"gpu0", "gpu1"};
  spec.owner = "";
  const auto graph = bench::trainingStep(spec);
  REQUIRE(graph.ok());
  const auto machine = readMachine(shippedFile("tools/bench/results/h200x2.machine.json").string());
  REQUIRE(machine.ok());
  return compiled(*graph, *machine);
}

/// The plan's programs with and without reads from peers, over memory of the host.
struct BothWays {
  ProgressBoard board;
  std::vector<std::unique_ptr<HeapArena>> arenas;
  PeerReads lowered;
  std::vector<Program> planned, programs;

  explicit BothWays(const Executable& plan, bool reads = true) : board(plan.schedule().queues.size(), 0) {
    SideTable<DeviceId, Arena*> byDevice(plan.machine().devices.size());
    for (const DeviceId device : byDevice.ids()) {
      arenas.push_back(std::make_unique<HeapArena>(plan.memory().arenaBytes[device]));
      byDevice[device] = arenas.back().get();
    }
    const auto gpus = [&](DeviceId a, DeviceId b) {
      return plan.machine().devices[a].kind == DeviceKind::Gpu &&
             plan.machine().devices[b].kind == DeviceKind::Gpu;
    };
    planned = resolve(plan, byDevice, board).programs;
    lowered = lowerPeerReads(plan, reads ? choosePeerReads(plan, gpus) : std::vector<PeerRead>());
    programs = cuda::withPeerReads(plan, lowered, planned, board);
  }
};

} // namespace

TEST_CASE("peer reads: an update reads the gradient where the peer made it") {
  const Plan plan = updatePlan();
  const auto chosen = choosePeerReads(*plan, everywhere);
  REQUIRE(written(*plan, chosen) == "made@gpu0 by next");
  CHECK(chosen[0].operand == 1);
  const PeerReads lowered = lowerPeerReads(*plan, chosen);
  const StepId made = stepNamed(*plan, "made"), transfer = chosen[0].transfer, next = chosen[0].reader;
  CHECK(lowered.waits[next] == cuda::StepList{made});
  CHECK(lowered.waits[transfer].empty());
  CHECK(lowered.order.size() == plan->schedule().steps.size());
}

TEST_CASE("peer reads: a plan without them keeps its programs") {
  const Plan plan = netPlan(64);
  const BothWays ways(*plan, false);
  REQUIRE(ways.lowered.reads.empty());
  for (size_t i = 0; i < ways.planned.size(); ++i) {
    CHECK(cuda::segmentsOf(ways.programs[i]) == cuda::segmentsOf(ways.planned[i]));
    for (size_t k = 0; k < ways.planned[i].commands.size(); ++k) {
      const Command &planned = ways.planned[i].commands[k], &command = ways.programs[i].commands[k];
      CHECK(command.kind == planned.kind);
      CHECK(command.publishes == planned.publishes);
      CHECK(command.waits.size() == planned.waits.size());
      CHECK(command.operands == planned.operands);
    }
  }
}

TEST_CASE("peer reads: not through the host, nor from a GPU without access") {
  const Plan plan = updatePlan();
  CHECK(choosePeerReads(*plan, [](DeviceId, DeviceId) { return false; }).empty());
  const DeviceId gpu0 = plan->machine().findDevice("gpu0"), gpu1 = plan->machine().findDevice("gpu1");
  CHECK(choosePeerReads(*plan, [&](DeviceId a, DeviceId b) { return a == gpu1 && b == gpu0; }).empty());
  CHECK(choosePeerReads(*plan, [&](DeviceId a, DeviceId b) { return a == gpu0 && b == gpu1; }).size() == 1);
}

TEST_CASE("peer reads: not of what others read too, or the caller, or one op twice") {
  const auto none = [](const auto& use) {
    const Plan plan = exchangePlan({64}, use);
    CHECK(choosePeerReads(*plan, everywhere).empty());
  };
  none([](Builder& g, Tensor made, Tensor w) {
    g.assign(w, w - made);
    g.fetch("other", -made);
  });
  none([](Builder& g, Tensor made, Tensor w) { g.assign(w, made * made); });
  none([](Builder& g, Tensor made, Tensor w) {
    g.assign(w, w - made);
    const auto there = g.on("gpu0");
    g.fetch("made", reshape(made, {8, 8}));
  });
}

TEST_CASE("peer reads: only by kernels that read each element once") {
  const auto none = [](const auto& use) {
    const Plan plan = exchangePlan({8, 8}, use);
    CHECK(choosePeerReads(*plan, everywhere).empty());
  };
  none([](Builder& g, Tensor made, Tensor) { g.fetch("sum", reduceSum(made, {0})); });
  none([](Builder& g, Tensor made, Tensor w) { g.assign(w, matmul(w, made)); });
  none([](Builder& g, Tensor made, Tensor w) { g.fetch("large", broadcast(w, {4, 8, 8}) + made); });
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
  const Plan plan = tinyPlan(finished(g), smallMachine(2), true);
  const auto chosen = choosePeerReads(*plan, everywhere);
  REQUIRE(written(*plan, chosen) == "a@gpu0 by sum, b@gpu0 by sum");
  const PeerReads both = lowerPeerReads(*plan, chosen);
  CHECK(both.reads == chosen);
  CHECK(both.waits[chosen[0].reader] == cuda::StepList{stepNamed(*plan, "b")}); // behind a on its queue
  // The first alone: the copy of b comes behind it, so behind the sum, which needs b.
  const PeerReads circle = lowerPeerReads(*plan, {chosen[0]});
  CHECK(circle.reads.empty());
  for (const StepId step : plan->schedule().steps.ids()) {
    CHECK(circle.order[step.index()] == step);
    CHECK(circle.waits[step] == cuda::StepList(plan->schedule().steps[step].waits));
  }
  const PeerReads second = lowerPeerReads(*plan, {chosen[1]});
  CHECK(second.reads.size() == 1);
}

TEST_CASE("peer reads: of B3's gradients those whose copies nothing hides") {
  const Plan large = netPlan(8192); // both large copies run under backward products
  CHECK(written(*large, lowerPeerReads(*large, choosePeerReads(*large, everywhere)).reads) ==
        "b1@gpu1.gradient@gpu0 by sub.8, w3@gpu1.gradient@gpu0 by sub.3, b2@gpu1.gradient@gpu0 by sub.6, "
        "b3@gpu1.gradient@gpu0 by sub.4, b1@gpu0.gradient@gpu1 by sub.14, w3@gpu0.gradient@gpu1 by sub.9, "
        "b2@gpu0.gradient@gpu1 by sub.12, b3@gpu0.gradient@gpu1 by sub.10");
  const Plan middle = netPlan(1024); // that of w2 still does
  const auto reads = lowerPeerReads(*middle, choosePeerReads(*middle, everywhere)).reads;
  CHECK(reads.size() == 10);
  CHECK(written(*middle, reads).find("w2") == std::string::npos);
  const Plan small = netPlan(64);
  CHECK(lowerPeerReads(*small, choosePeerReads(*small, everywhere)).reads.size() == 12);
}

TEST_CASE("peer reads: updates that read from peers share a launch") {
  checkGolden("launches/b3_exchange_64_copies.txt", QueueOnPaper(netPlan(64), true).listing());
  checkGolden("launches/b3_exchange_64_peers.txt", QueueOnPaper(netPlan(64), true, true).listing());
  checkGolden("launches/b3_exchange_8192_copies.txt", QueueOnPaper(netPlan(8192), true).listing());
  checkGolden("launches/b3_exchange_8192_peers.txt", QueueOnPaper(netPlan(8192), true, true).listing());
}

namespace {

/// A plan's commands, each by a number, and which come before which.
struct Commands {
  std::vector<const Command*> all;
  std::vector<std::vector<bool>> after; ///< [a][b]: b comes after a
  std::map<uint32_t, size_t> byStep;

  Commands(const std::vector<Program>& programs, const ProgressBoard& board) {
    std::map<const ProgressWord*, size_t> firstOf;
    for (const Program& program : programs) {
      firstOf[&board[program.queue.index()]] = all.size();
      for (const Command& command : program.commands) {
        all.push_back(&command);
      }
    }
    std::vector<std::vector<size_t>> next(all.size());
    for (const Program& program : programs) {
      const size_t first = firstOf[&board[program.queue.index()]];
      for (size_t i = 0; i < program.commands.size(); ++i) {
        const Command& command = program.commands[i];
        if (command.step.valid()) {
          byStep[command.step.index()] = first + i;
        }
        if (i > 0) {
          next[first + i - 1].push_back(first + i);
        }
        for (const WaitFor& wait : command.waits) {
          if (wait.offset > 0) {
            next[firstOf.at(wait.word) + wait.offset - 1].push_back(first + i);
            published = published && all[firstOf.at(wait.word) + wait.offset - 1]->publishes;
          }
        }
      }
    }
    for (size_t a = 0; a < all.size(); ++a) {
      std::vector<bool>& reached = after.emplace_back(all.size());
      std::vector<size_t> open = next[a];
      while (!open.empty()) {
        const size_t b = open.back();
        open.pop_back();
        if (!reached[b]) {
          reached[b] = true;
          open.insert(open.end(), next[b].begin(), next[b].end());
        }
      }
    }
  }

  bool acyclic() const {
    for (size_t a = 0; a < all.size(); ++a) {
      if (after[a][a]) {
        return false;
      }
    }
    return true;
  }

  static bool overlap(const Location& a, const Location& b) {
    return a.base == Location::Base::Arena && b.base == a.base && a.arena == b.arena &&
           a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  }
  static bool overlap(llvm::ArrayRef<Location> some, llvm::ArrayRef<Location> others) {
    return llvm::any_of(some, [&](const Location& a) {
      return llvm::any_of(others, [&](const Location& b) { return overlap(a, b); });
    });
  }

  /// Pairs without an order of which one writes what the other reads or writes.
  size_t races() const {
    size_t count = 0;
    for (size_t a = 0; a < all.size(); ++a) {
      for (size_t b = a + 1; b < all.size(); ++b) {
        const Command &x = *all[a], &y = *all[b];
        const bool works = x.kind != Command::Kind::Nothing && y.kind != Command::Kind::Nothing;
        if (works && !after[a][b] && !after[b][a] &&
            (overlap(x.results, y.results) || overlap(x.results, y.operands) ||
             overlap(x.operands, y.results))) {
          ++count;
        }
      }
    }
    return count;
  }

  bool published = true; ///< whatever is waited for
};

void checkOrder(const Executable& plan, const BothWays& ways) {
  const Schedule& schedule = plan.schedule();
  SideTable<StepId, bool> done(schedule.steps.size());
  REQUIRE(ways.lowered.order.size() == schedule.steps.size());
  for (const StepId step : ways.lowered.order) {
    const StepRow& row = schedule.steps[step];
    CHECK_FALSE(done[step]);
    done[step] = true;
    CHECK((row.position == 0 || done[schedule.queues[row.queue].steps[row.position - 1]]));
    for (const StepId wait : ways.lowered.waits[step]) {
      CHECK(done[wait]);
      CHECK(schedule.steps[wait].queue != row.queue);
    }
  }
}

// Of two commands the later stays the later, where a transfer that is not made counts as its reader.
void checkAllOrdersKept(const BothWays& ways) {
  const Commands before(ways.planned, ways.board), now(ways.programs, ways.board);
  REQUIRE(before.acyclic());
  REQUIRE(now.acyclic());
  CHECK(now.published);
  CHECK(before.races() == 0);
  CHECK(now.races() == 0);
  std::vector<size_t> stands(before.all.size());
  for (size_t i = 0; i < stands.size(); ++i) {
    stands[i] = i;
  }
  for (const PeerRead& read : ways.lowered.reads) {
    stands[before.byStep.at(read.transfer.index())] = before.byStep.at(read.reader.index());
  }
  size_t lost = 0;
  for (size_t a = 0; a < stands.size(); ++a) {
    for (size_t b = 0; b < stands.size(); ++b) {
      lost += before.after[a][b] && stands[a] != stands[b] && !now.after[stands[a]][stands[b]] ? 1 : 0;
    }
  }
  CHECK(lost == 0);
}

Plan randomPlan(uint64_t seed, size_t ops, int64_t mostElements, uint32_t gpus = 3) {
  RandomGraphOptions shape;
  shape.ops = ops;
  shape.mostElements = mostElements;
  shape.zeroSized = seed % 2 == 0;
  if (seed % 3 != 0) { // what streams comes up often
    shape.kinds = {OpKind::Add,    OpKind::Mul,    OpKind::Relu,     OpKind::Neg,
                   OpKind::Select, OpKind::Matmul, OpKind::ReduceSum};
  }
  const Graph graph = randomGraph(seed, shape);
  Dice dice(seed);
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    const OpClass kind = classOf(graph[op].kind());
    const bool computes = kind != OpClass::Source && kind != OpClass::State;
    rewriter.builder().repin(rewriter.copy(op), computes ? fmt::format("gpu{}", dice.below(gpus)) : "");
  }
  return compiled(std::move(rewriter).finish(), smallMachine(gpus, 1, 1 + seed % 2));
}

} // namespace

TEST_CASE("peer reads: of random plans, every order is kept and nothing races for bytes") {
  size_t reads = 0, chosen = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    INFO("seed " << seed);
    const Plan plan = randomPlan(seed, 30 + seed, 400);
    const BothWays ways(*plan);
    checkOrder(*plan, ways);
    checkAllOrdersKept(ways);
    reads += ways.lowered.reads.size();
    chosen += choosePeerReads(*plan, everywhere).size();
  }
  CHECK(reads > 200); // else little is tested
  CHECK(chosen >= reads);
  for (const int64_t batch : {64, 1024, 8192}) {
    const Plan plan = netPlan(batch);
    const BothWays ways(*plan);
    checkOrder(*plan, ways);
    checkAllOrdersKept(ways);
  }
}

TEST_CASE("peer reads leave the bits of copies, merged launches or not") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  EmulatedKernels kernels;
  std::vector<std::unique_ptr<QueueOnPaper>> copies, reads;
  size_t made = 0;
  for (uint64_t seed = 300; seed < 306; ++seed) {
    const Plan plan = randomPlan(seed, 60, 400);
    copies.push_back(std::make_unique<QueueOnPaper>(plan, false));
    reads.push_back(std::make_unique<QueueOnPaper>(plan, seed % 2 == 0, true));
    copies.back()->addTo(kernels);
    reads.back()->addTo(kernels);
    made += reads.back()->peerReads();
  }
  CHECK(made > 10);
  REQUIRE(kernels.build() == "");
  for (size_t i = 0; i < copies.size(); ++i) {
    INFO("plan " << i << ":\n" << reads[i]->listing());
    std::string problem;
    copies[i]->run(kernels, i, problem);
    reads[i]->run(kernels, i, problem);
    CHECK(problem == "");
    CHECK((copies[i]->lasting() == reads[i]->lasting())); // not printed: they are long
  }
}

namespace {

/// The state and results of some rounds, launched without waiting for one another.
std::vector<NamedLiterals> afterRounds(const Plan& plan, const SessionOptions& options) {
  auto session = Session::open(plan, options);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  std::vector<NamedLiterals> seen;
  std::vector<Session::Pending> rounds;
  for (uint64_t round = 0; round < 12; ++round) {
    auto pending = (*session)->submit(randomFeeds(plan->graph(), round));
    REQUIRE(pending.ok());
    rounds.push_back(*std::move(pending));
  }
  for (const Session::Pending& round : rounds) {
    seen.push_back(round.wait());
  }
  seen.push_back((*session)->state());
  return seen;
}

void checkOnTwoGpus(const Plan& plan, SessionOptions options) {
  options.backendOptions.peerReads = false;
  const auto copied = afterRounds(plan, options);
  options.backendOptions.peerReads = true;
  CHECK((afterRounds(plan, options) == copied));
  for (bool* other :
       {&options.backendOptions.graphs, &options.backendOptions.mergeLaunches, &options.trace}) {
    const bool usual = std::exchange(*other, !*other);
    CHECK((afterRounds(plan, options) == copied));
    *other = usual;
  }
}

} // namespace

TEST_CASE("peer reads on two GPUs leave the bits of copies, round after round") {
  const auto all = contenders(Aspect::Values);
  const auto cuda = llvm::find_if(all, [](const Contender& contender) {
    return contender.backend->name() == "cuda" && contender.gpus() == 2;
  });
  if (cuda == all.end()) {
    DFC_SKIP("no two GPUs here");
  }
  for (const int64_t batch : {64, 1024}) {
    INFO("batch " << batch);
    checkOnTwoGpus(netPlan(batch), cuda->options());
  }
  for (uint64_t seed = 300; seed < 306; ++seed) {
    INFO("seed " << seed);
    checkOnTwoGpus(randomPlan(seed, 60, 4000, 2), cuda->options());
  }
}
