// Merged launches: the launches of known nets, and that merging changes no bit, in results or anywhere else
// in memory.
#include "tests/conformance/contenders.h"
#include "tests/conformance/peer_plans.h"
#include "tests/conformance/queue_on_paper.h"
#include "tests/conformance/require_plan.h"

#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "ir/plan/print/print.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/random_graph.h"
#include "tools/bench/graphs/mlp.h"

#include <fmt/format.h>

#include <cstdlib>

using namespace dfc;
using namespace dfc::test;

namespace {

Machine twoGpus() {
  auto machine = readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  REQUIRE(machine.ok());
  return *std::move(machine);
}

std::shared_ptr<const Executable> planOf(const Graph& graph, const CompileOptions& options = {}) {
  return requirePlan(graph, twoGpus(), options);
}

/// A plan of the MLP on one GPU.
std::shared_ptr<const Executable> netPlan(const bench::MlpSpec& spec,
                                          ops::Precision precision = ops::Precision::Ieee) {
  const auto graph = bench::trainingStep(spec);
  REQUIRE(graph.ok());
  CompileOptions options;
  options.precision = precision;
  return planOf(*graph, options);
}

std::shared_ptr<const Executable> netPlan(int64_t batch, ops::Precision precision = ops::Precision::Ieee) {
  bench::MlpSpec spec;
  spec.batch = batch;
  return netPlan(spec, precision);
}

CompileOptions onOneGpu() {
  CompileOptions options;
  options.policy = "pins";
  options.pins = {{"*", "gpu0"}};
  return options;
}

/// Everything on one GPU.
std::shared_ptr<const Executable> randomPlan(uint64_t seed) {
  RandomGraphOptions shape;
  shape.ops = 60;
  CompileOptions options = onOneGpu();
  if (seed % 2 == 0) { // many small launches
    options.skipPasses = {"fuse_elementwise", "fuse_matmul"};
  }
  return planOf(randomGraph(seed, shape), options);
}

} // namespace

TEST_CASE("merged launches: the training step of the MLP") {
  const QueueOnPaper apart(netPlan(64), false), merged(netPlan(64), true);
  checkGolden("launches/mlp_64_apart.txt", apart.listing());
  checkGolden("launches/mlp_64_merged.txt", merged.listing());
  const QueueOnPaper large(netPlan(8192), true);
  checkGolden("launches/mlp_8192_merged.txt", large.listing());
  checkGolden("launches/mlp_64_tf32_merged.txt",
              QueueOnPaper(netPlan(64, ops::Precision::Tf32), true).listing());
}

TEST_CASE("launch plans in print: products with their epilogues, merged kernels, spare launches") {
  const auto printed = [](const Executable& plan) {
    return printLaunches(plan.launches(), plan.placed(), plan.schedule(), plan.machine());
  };
  checkGolden("launches/mlp_64_plan.txt", printed(*netPlan(64, ops::Precision::Tf32)));
  checkGolden("launches/mlp_exchange_64_plan.txt", printed(*exchangingNet(64)));
  Builder g("layer");
  const TensorType halves{ElementType::F16, {24, 16}};
  const Tensor x = g.parameter("x", halves), w = g.parameter("w", {ElementType::F16, {16, 40}}),
               b = g.parameter("b", {ElementType::F16, {40}});
  g.fetch("y", gelu(matmul(x, w) + b, Approximation::Tanh));
  checkGolden("launches/gelu_layer_plan.txt", printed(*planOf(*std::move(g).finish(), onOneGpu())));
}

namespace {

/// Random ops with distinct kernels over a few values of one type. Each result is kept in a parameter:
/// nothing leaves the GPU, so that the program is one region without waits.
class DenseAuthor {
 public:
  DenseAuthor(uint64_t seed, ElementType element) : dice_(seed), element_(element), g_("dense") {
    const auto here = g_.on("gpu0");
    for (const Shape& shape : {Shape{64, 48}, Shape{64, 48}, Shape{48}, Shape{40, 24}, Shape{5}}) {
      values_.push_back(g_.parameter(fmt::format("p{}", values_.size()), {element, shape}));
    }
    if (element == ElementType::F32) { // long enough for a sum in two launches
      values_.push_back(g_.parameter("long", f32({70000})));
    }
  }

  Graph write(size_t ops) {
    const auto here = g_.on("gpu0");
    for (size_t i = 0; i < ops; ++i) {
      const Tensor value = drawn(dice_.oneOf(values_));
      g_.assign(g_.parameter(fmt::format("kept{}", i), value.type()), value);
      if (value.type().element == element_ && value.shape().rank() > 0) {
        values_.push_back(value);
      }
    }
    return requireGraph(std::move(g_));
  }

 private:
  Tensor drawn(Tensor x) {
    const Shape& shape = x.shape();
    switch (dice_.below(shape.rank() == 2 ? 9 : 5)) {
    case 0: return x + partnerOf(x);
    case 1: return x * 2;
    case 2: return reduceSum(x, {-1});
    case 3: return shape.elements() < 2000 ? concat({x, x}) : -x;
    case 4: return max(partnerOf(x), x);
    case 5: return reduceSum(x, {0});
    case 6: return transpose(x);
    case 7: return isFloat(element_) ? softmax(x, dice_.below(2)) : reduceMax(x, {1});
    default: return argMax(x, dice_.below(2));
    }
  }

  /// Another value that it may be joined with, or itself.
  Tensor partnerOf(Tensor x) {
    const Tensor other = dice_.oneOf(values_);
    return other.shape() == x.shape() ? other : x;
  }

  Dice dice_;
  ElementType element_;
  Builder g_;
  std::vector<Tensor> values_;
};

std::shared_ptr<const Executable> densePlan(uint64_t seed, ElementType element) {
  CompileOptions options;
  options.skipPasses = {"fuse_elementwise"};
  return planOf(DenseAuthor(seed, element).write(40), options);
}

/// The same plan's launches, separate and merged.
struct Pair {
  QueueOnPaper apart, merged;
  explicit Pair(const std::shared_ptr<const Executable>& plan) : apart(plan, false), merged(plan, true) {}
};

void checkBits(const std::vector<std::unique_ptr<Pair>>& pairs) {
  EmulatedKernels kernels;
  size_t before = 0, after = 0;
  for (const auto& pair : pairs) {
    pair->apart.addTo(kernels);
    pair->merged.addTo(kernels);
    before += pair->apart.launches().size();
    after += pair->merged.launches().size();
  }
  CHECK(after < before * 3 / 4); // else little is tested
  REQUIRE(kernels.build() == "");
  for (size_t i = 0; i < pairs.size(); ++i) {
    INFO("plan " << i << ":\n" << pairs[i]->merged.listing());
    for (const uint64_t seed : {1, 2}) {
      std::string problem;
      const auto expected = pairs[i]->apart.run(kernels, seed, problem);
      const auto actual = pairs[i]->merged.run(kernels, seed, problem);
      CHECK(problem == "");
      CHECK((expected == actual)); // not printed: they are long
    }
  }
}

} // namespace

TEST_CASE("merged launches leave the bits of separate ones: random graphs of every type") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  std::vector<std::unique_ptr<Pair>> pairs;
  for (uint64_t seed = 40; seed < 46; ++seed) {
    pairs.push_back(std::make_unique<Pair>(randomPlan(seed)));
  }
  checkBits(pairs);
}

namespace {

/// A training step of two layers with gelu between them, in f16; gelu is the epilogue of one product.
Graph geluStep() {
  Builder g("step");
  const auto f16 = [](const Shape& shape) { return TensorType{ElementType::F16, shape}; };
  const Tensor x = g.input("x", f16({24, 16}));
  const std::vector<Tensor> weights = {g.parameter("w1", f16({16, 40})), g.parameter("b1", f16({40})),
                                       g.parameter("w2", f16({40, 8}))};
  const Tensor h = matmul(x, weights[0]) + weights[1];
  const Tensor loss =
      reduceSum(matmul(gelu(h, Approximation::Tanh), weights[2]) * g.input("t", f16({24, 8})));
  const std::vector<Tensor> derivatives = gradients(loss, weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    g.assign(weights[i], weights[i] - 0.125 * derivatives[i]);
  }
  g.fetch("ahead", gelu(matmul(x, g.parameter("w3", f16({16, 40}))) + weights[1], Approximation::Tanh));
  return *std::move(g).finish();
}

size_t productsWith(const QueueOnPaper& queue, Activation activation) {
  size_t found = 0;
  for (const LaunchRow& launch : queue.launches()) {
    found += launch.product && launch.product->activation == activation ? 1 : 0;
  }
  return found;
}

} // namespace

TEST_CASE("merged launches leave the bits of separate ones: products with gelu as epilogue") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  std::vector<std::unique_ptr<Pair>> pairs;
  pairs.push_back(std::make_unique<Pair>(planOf(geluStep(), onOneGpu())));
  for (const QueueOnPaper* queue : {&pairs.back()->apart, &pairs.back()->merged}) {
    CHECK(productsWith(*queue, Activation::Gelu) == 1);
  }
  pairs.push_back(std::make_unique<Pair>(densePlan(7, ElementType::BF16)));
  checkBits(pairs);
}

TEST_CASE("merged launches leave the bits of separate ones: many ops side by side") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  std::vector<std::unique_ptr<Pair>> pairs;
  uint64_t seed = 0;
  for (const ElementType element : {ElementType::F32, ElementType::F32, ElementType::F64, ElementType::BF16,
                                    ElementType::I64, ElementType::U8}) {
    pairs.push_back(std::make_unique<Pair>(densePlan(++seed, element)));
  }
  checkBits(pairs);
}

namespace {

/// Backward steps of layers too large for small launches: a gradient is kept or used, and reduced over rows,
/// columns or all, in one launch or two; it may lie in the place of an operand. With `fetched` a copy waits
/// for the op between a gradient and its sum, which ends their region.
Graph fusedReductions(ElementType element, bool fetched) {
  Builder g("gradients");
  const auto random = [&](const std::string& name, const Shape& shape) {
    return g.parameter(name, {element, shape}, uniform(-1, 1, 1));
  };
  const auto keep = [&](const std::string& name, Tensor value) {
    g.assign(g.parameter(name, value.type()), value);
  };
  const Tensor tall = random("tall", {8192, 144}), wide = random("wide", {160, 8192}),
               low = random("low", {72, 8192}), deep = random("deep", {64, 96, 256});
  const Tensor passed = matmul(random("dy", {8192, 3}), random("w", {3, 144}));
  const Tensor gradient = select(compare(tall, 0, Direction::Gt), passed, 0);
  keep("gradient", gradient);
  keep("bias", reduceSum(gradient, {0}));
  // The argument of this derivative lies in the place of the result, so that the product is in the workspace.
  const Tensor x = random("x", {8192, 4}), hidden = matmul(x, random("v", {4, 144}));
  const Tensor inPlace =
      select(compare(hidden, 0, Direction::Gt), matmul(random("dz", {8192, 5}), random("u", {5, 144})), 0);
  const Tensor weights = matmul(transpose(x), inPlace);
  fetched ? g.fetch("weights", weights) : keep("weights", weights);
  keep("biasInPlace", reduceSum(inPlace, {0}));
  const Tensor outer = matmul(random("column", {8192, 1}), random("row", {1, 144})) * tall;
  keep("outer", outer);
  keep("rows", reduceSum(outer, {1}));
  const Tensor scaled = wide * 2 + random("each", {8192});
  keep("scaled", scaled);
  keep("most", reduceMax(scaled, {1}));
  const Tensor shifted = low - 3;
  keep("shifted", shifted);
  keep("mean", reduceMean(shifted, {0}));
  const Tensor squared = tall * tall;
  keep("squared", squared);
  keep("whole", reduceSum(squared));
  const Tensor less = tall - 1;
  keep("less", less);
  keep("where", argMax(less, 1));
  const Tensor between = deep * 0.5;
  keep("between", between);
  keep("inner", reduceSum(between, {1}));
  return *std::move(g).finish();
}

/// Plans whose fused reductions are merged, and whose are fetched; their launches are those of the golden
/// files.
std::vector<std::unique_ptr<Pair>> fusedReductionPairs() {
  std::vector<std::unique_ptr<Pair>> pairs;
  for (const bool fetched : {false, true}) {
    pairs.push_back(std::make_unique<Pair>(planOf(fusedReductions(ElementType::F32, fetched), onOneGpu())));
    checkGolden(fmt::format("launches/fused_reductions_{}.txt", fetched ? "fetched" : "merged"),
                pairs.back()->merged.listing());
  }
  return pairs;
}

} // namespace

TEST_CASE("merged launches leave the bits of separate ones: fused reductions") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  std::vector<std::unique_ptr<Pair>> pairs = fusedReductionPairs();
  pairs.pop_back(); // its kernels are those of the other, one by one
  checkBits(pairs);
}

TEST_CASE("merged launches leave the bits of separate ones: fused reductions, fetched or not", "[heavy]") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  checkBits(fusedReductionPairs());
}

TEST_CASE("merged launches leave the bits of separate ones on a GPU: fused reductions") {
  auto gpus = contenders(Aspect::Values);
  std::erase_if(gpus, [](const Contender& contender) { return contender.backend->name() != "cuda"; });
  if (gpus.empty()) {
    DFC_SKIP("no GPU here, and no other backend merges launches");
  }
  for (const Contender& contender : gpus) {
    for (const auto& [element, fetched] :
         {std::pair(ElementType::F32, false), std::pair(ElementType::F32, true),
          std::pair(ElementType::F16, false), std::pair(ElementType::F16, true)}) {
      INFO(contender.name << ", " << name(element) << (fetched ? ", fetched" : ""));
      CompileOptions compile;
      compile.policy = "pins";
      compile.pins = {{"*", contender.devices().back()}};
      std::vector<NamedLiterals> states;
      for (const bool merge : {false, true, true}) {
        SessionOptions options = contender.options();
        compile.mergeLaunches = merge;
        const auto plan = requirePlan(fusedReductions(element, fetched), contender.machine(), compile);
        const auto session = Session::open(plan, options);
        REQUIRE(session.ok());
        for (int step = 0; step < 3; ++step) {
          REQUIRE((*session)->run({}).ok());
        }
        states.push_back((*session)->state());
      }
      CHECK((states[0] == states[1])); // not printed: they are long
      CHECK((states[1] == states[2]));
    }
  }
}

TEST_CASE("merged launches leave the bits of separate ones: products by tiles") {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  bench::MlpSpec spec;
  spec.batch = 24, spec.inputs = 72, spec.first = 96, spec.second = 40;
  std::vector<std::unique_ptr<Pair>> pairs;
  pairs.push_back(std::make_unique<Pair>(netPlan(spec, ops::Precision::Tf32)));
  for (const LaunchRow& launch : pairs[0]->merged.launches()) {
    CHECK_FALSE(launch.product); // all are small enough
  }
  checkBits(pairs);
}
