// Reads from peers leave the bits that copies leave: without a GPU, and on two GPUs where there are.
#include "tests/conformance/contenders.h"
#include "tests/conformance/peer_plans.h"
#include "tests/conformance/queue_on_paper.h"

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/relowered.h"

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

/// A backward step on each of two GPUs, which exchange the gradients of a weight: the product that is sent to
/// the other GPU stands between a gradient and its sum, the gradient of a bias.
Plan exchangedGradients() {
  Builder g("exchanged gradients");
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
    const Tensor gradient = select(compare(hidden, 0, Direction::Gt), passed, 0);
    products.push_back(matmul(transpose(x), gradient));
    sums.push_back(reduceSum(gradient, {0}).named(at("sum@")));
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

TEST_CASE("peer reads leave the bits of copies, with reductions fused across published ends") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  const Plan plan = exchangedGradients();
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

/// The results of some in-flight steps, and the state after them.
std::vector<NamedLiterals> afterSteps(const Plan& plan, const SessionOptions& options) {
  auto session = Session::open(plan, options);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  std::vector<NamedLiterals> seen;
  std::vector<Session::Pending> steps;
  for (uint64_t step = 0; step < 12; ++step) {
    auto pending = (*session)->submit(randomFeeds(plan->graph(), step));
    REQUIRE(pending.ok());
    steps.push_back(*std::move(pending));
  }
  for (const Session::Pending& step : steps) {
    seen.push_back(step.wait());
  }
  seen.push_back((*session)->state());
  return seen;
}

/// The number of peer reads that the backend would use where the two GPUs have peer access.
size_t checkOnTwoGpus(const Plan& plan, SessionOptions options) {
  const auto copied = afterSteps(relowered(*plan, {.peerReads = false}), options);
  const Plan reads = relowered(*plan, {});
  CHECK((afterSteps(reads, options) == copied));
  CHECK((afterSteps(relowered(*plan, {.mergeLaunches = false}), options) == copied));
  for (bool* other : {&options.backendOptions.graphs, &options.trace}) {
    const bool usual = std::exchange(*other, !*other);
    CHECK((afterSteps(reads, options) == copied));
    *other = usual;
  }
  return reads->launches().peers.reads.size();
}

/// A parameter on a GPU that computes nothing, in the plan's preparation, which the other GPU reads.
Plan readOfIdleGpu() {
  Builder g("read of an idle GPU");
  const Tensor x = g.input("x", f32({64}));
  const auto held = [&] {
    const auto there = g.on("gpu0");
    return g.parameter("held", f32({64}), uniform(0, 1, 1));
  }();
  const auto there = g.on("gpu1");
  g.fetch("y", x + sqrt(held));
  return requirePlan(requireGraph(std::move(g)), smallMachine(2));
}

/// The contender with two GPUs or more; null without them.
const Contender* onSeveralGpus(const std::vector<Contender>& all) {
  const auto cuda = llvm::find_if(all, [](const Contender& contender) {
    return contender.backend->name() == "cuda" && contender.gpus() >= 2;
  });
  return cuda != all.end() ? &*cuda : nullptr;
}

} // namespace

TEST_CASE("a GPU reads the parameter of one that computes nothing") {
  const Plan plan = readOfIdleGpu();
  const Executable* preparation = plan->preparation();
  REQUIRE(preparation != nullptr);
  CHECK(preparation->launches().peers.reads.size() == 1);
  CHECK(llvm::all_of(preparation->schedule().queues, [&](const QueueRow& queue) {
    return queue.steps.empty() || plan->machine().devices[queue.device].name != "gpu0";
  }));
  const auto all = contenders(Aspect::Values);
  const Contender* cuda = onSeveralGpus(all);
  if (cuda == nullptr) {
    DFC_SKIP("no two GPUs here");
  }
  CHECK((afterSteps(plan, cuda->options()) == afterSteps(plan, {.gpuBackend = "emulated"})));
}

TEST_CASE("peer reads on two GPUs leave the bits of copies, step after step") {
  const auto all = contenders(Aspect::Values);
  const Contender* cuda = onSeveralGpus(all);
  if (cuda == nullptr) {
    DFC_SKIP("no two GPUs here");
  }
  for (const int64_t batch : {64, 1024, 2048}) { // in the last, reductions are fused
    INFO("batch " << batch);
    CHECK(checkOnTwoGpus(exchangingNet(batch), cuda->options()) > 0);
    CHECK(checkOnTwoGpus(reducingNet(batch, AllReduce::Scatter, 2), cuda->options()) > 0);
    CHECK(checkOnTwoGpus(reducingNet(batch, AllReduce::Ring, 2), cuda->options()) > 0);
  }
  CHECK(checkOnTwoGpus(exchangedGradients(), cuda->options()) > 0);
  size_t reads = 0;
  for (uint64_t seed = 300; seed < 306; ++seed) {
    INFO("seed " << seed);
    reads += checkOnTwoGpus(scatteredPlan(seed, 60, 4000, 2), cuda->options());
  }
  CHECK(reads > 0); // else only copies were compared
}
