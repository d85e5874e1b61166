// Reads from peers leave the bits that copies leave: on paper, and on two GPUs where there are.
#include "tests/conformance/contenders.h"
#include "tests/conformance/peer_plans.h"
#include "tests/conformance/queue_on_paper.h"

#include "tests/support/catch.h"

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
  for (const int64_t batch : {64, 1024}) {
    INFO("batch " << batch);
    CHECK(checkOnTwoGpus(exchangingNet(batch), cuda->options()) > 0);
    CHECK(checkOnTwoGpus(reducingNet(batch, AllReduce::Scatter, 2), cuda->options()) > 0);
    CHECK(checkOnTwoGpus(reducingNet(batch, AllReduce::Ring, 2), cuda->options()) > 0);
  }
  size_t reads = 0;
  for (uint64_t seed = 300; seed < 306; ++seed) {
    INFO("seed " << seed);
    reads += checkOnTwoGpus(scatteredPlan(seed, 60, 4000, 2), cuda->options());
  }
  CHECK(reads > 0); // else only copies were compared
}
