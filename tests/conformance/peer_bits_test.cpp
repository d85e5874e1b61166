// Reads from peers leave the bits that copies leave: on paper, and on two GPUs where there are.
#include "tests/conformance/contenders.h"
#include "tests/conformance/peer_plans.h"
#include "tests/conformance/queue_on_paper.h"

#include "tests/support/catch.h"
#include "tests/support/golden.h"

using namespace dfc;
using namespace dfc::test;

TEST_CASE("peer reads leave the bits of copies, merged launches or not") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  EmulatedKernels kernels;
  std::vector<std::unique_ptr<QueueOnPaper>> copies, reads;
  size_t made = 0;
  for (uint64_t seed = 300; seed < 306; ++seed) {
    const Plan plan = scatteredPlan(seed, 60, 400);
    copies.push_back(std::make_unique<QueueOnPaper>(plan, false));
    reads.push_back(std::make_unique<QueueOnPaper>(plan, seed % 2 == 0, true));
    copies.back()->addTo(kernels);
    reads.back()->addTo(kernels);
    CHECK(copies.back()->peerReads() == 0);
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

/// On each of two GPUs a backward step, whose gradient of a weight both take from both: the product that
/// leaves for the other stands between the slope and its sum, the gradient of a bias.
Plan exchangedSlopes() {
  Builder g("exchanged slopes");
  std::vector<Tensor> products, sums;
  const auto random = [&](const std::string& name, const Shape& shape) {
    return g.parameter(name, f32(shape), uniform(-1, 1, 1));
  };
  for (const std::string gpu : {"gpu0", "gpu1"}) {
    const auto there = g.on(gpu);
    const auto at = [&](const char* name) { return name + gpu; };
    const Tensor x = random(at("x@"), {8192, 4});
    const Tensor hidden = matmul(x, random(at("v@"), {4, 144}));
    const Tensor passed = matmul(random(at("dy@"), {8192, 5}), random(at("u@"), {5, 144}));
    const Tensor slope = select(compare(hidden, 0, Direction::Gt), passed, 0);
    products.push_back(matmul(transpose(x), slope));
    sums.push_back(reduceSum(slope, {0}).named(at("sum@")));
  }
  for (const std::string gpu : {"gpu0", "gpu1"}) {
    const auto there = g.on(gpu);
    const Tensor w = random("w@" + gpu, {4, 144}), b = random("b@" + gpu, {144});
    g.assign(w, w - 0.5 * (products[0] + products[1]));
    g.assign(b, b - 0.5 * sums[gpu == "gpu0" ? 0 : 1]);
  }
  return tinyPlan(requireGraph(std::move(g)), smallMachine(2), true);
}

} // namespace

TEST_CASE("peer reads leave the bits of copies, though folds are made before what peers wait for") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  const Plan plan = exchangedSlopes();
  QueueOnPaper apart(plan, false), copies(plan, true), reads(plan, true, true);
  EmulatedKernels kernels;
  for (QueueOnPaper* queue : {&apart, &copies, &reads}) {
    queue->addTo(kernels);
  }
  checkGolden("launches/exchanged_gradients_peers.txt", reads.listing());
  CHECK(reads.peerReads() > 0);
  REQUIRE(kernels.build() == "");
  for (const uint64_t seed : {1, 2}) {
    std::string problem;
    for (QueueOnPaper* queue : {&apart, &copies, &reads}) {
      queue->run(kernels, seed, problem);
    }
    CHECK(problem == "");
    CHECK((copies.lasting() == apart.lasting())); // not printed: they are long
    CHECK((reads.lasting() == apart.lasting()));
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

/// How many reads from peers the backend would make where the two GPUs reach each other.
size_t checkOnTwoGpus(const Plan& plan, SessionOptions options) {
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
  return ProgramsOnPaper(*plan).lowered.reads.size();
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
  for (const int64_t batch : {64, 1024, 2048}) { // in the last, folds are made along
    INFO("batch " << batch);
    CHECK(checkOnTwoGpus(exchangingNet(batch), cuda->options()) > 0);
    CHECK(checkOnTwoGpus(reducingNet(batch, AllReduce::Scatter, 2), cuda->options()) > 0);
    CHECK(checkOnTwoGpus(reducingNet(batch, AllReduce::Ring, 2), cuda->options()) > 0);
  }
  CHECK(checkOnTwoGpus(exchangedSlopes(), cuda->options()) > 0);
  size_t reads = 0;
  for (uint64_t seed = 300; seed < 306; ++seed) {
    INFO("seed " << seed);
    reads += checkOnTwoGpus(scatteredPlan(seed, 60, 4000, 2), cuda->options());
  }
  CHECK(reads > 0); // else only copies were compared
}
