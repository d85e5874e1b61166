// choose_layout beyond the golden files: which machines it is for, and what a whole plan keeps.
#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/layout.h"
#include "ir/graph/same_graph.h"
#include "tests/support/catch.h"
#include "tests/support/channels_last.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <algorithm>
#include <set>

namespace dfc {
namespace {

// Two convolutions with everything that a network has between them, and the step of both filters.
Graph network() {
  Builder g;
  const Tensor image = g.input("image", f32({2, 3, 9, 8})),
               first = g.parameter("first", f32({4, 3, 3, 3}), heNormal(1)),
               second = g.parameter("second", f32({6, 4, 1, 1}), heNormal(2)),
               scale = g.parameter("scale", f32({4}), constantInit(1)), bias = g.parameter("bias", f32({4}));
  const Tensor normal = batchNormTraining(conv2d(image, first), scale, bias).result;
  const Tensor pooled = averagePool(pad(relu(normal), {0, 0, 1, 0}, {0, 0, 0, 1}), {2, 2});
  const Tensor y = conv2d(pooled, second, {.strides = {2, 2}});
  const Tensor gate = sigmoid(reduceMean(y, {2, 3}, true));
  const Tensor loss = reduceMean(y * gate * y).named("loss");
  const std::vector<Tensor> derivatives = gradients(loss, {first, second});
  g.fetch("y", y);
  g.assign(first, first - derivatives[0]);
  g.assign(second, second - derivatives[1]);
  Result<Graph> graph = std::move(g).finish();
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

size_t convolutionsOf(const Graph& graph, ImageLayout layout) {
  return static_cast<size_t>(
      std::count_if(graph.opsOf(OpKind::Conv2d).begin(), graph.opsOf(OpKind::Conv2d).end(),
                    [&](OpId op) { return graph[op].as<ops::Conv2d>().layout == layout; }));
}

} // namespace

TEST_CASE("choose_layout: for machines with GPUs") {
  for (const uint32_t gpus : {0U, 1U}) {
    CompileOptions whole; // parts would be counted, too
    whole.policy = "single";
    const auto plan = compile(network(), test::smallMachine(gpus), RooflineCostModel(), whole);
    REQUIRE(plan.ok());
    CHECK(convolutionsOf(plan->graph(), ImageLayout::Nhwc) == gpus);
  }
}

TEST_CASE("choose_layout: ops that are pinned to a CPU keep their filters' order") {
  Builder g;
  const Tensor image = g.input("image", f32({2, 4, 6, 6})), filter = g.parameter("filter", f32({4, 4, 3, 3}));
  Tensor x = image;
  for (const char* device : {"gpu0", "cpu0", "gpu0"}) {
    const auto here = g.on(device);
    x = conv2d(x, filter, {.low = {1, 1}, .high = {1, 1}});
  }
  g.fetch("y", x);
  const auto plan = compile(*std::move(g).finish(), test::smallMachine(1), RooflineCostModel());
  REQUIRE(plan.ok());
  CHECK(convolutionsOf(plan->graph(), ImageLayout::Nhwc) == 2);
  CHECK(convolutionsOf(plan->graph(), ImageLayout::NhwcOihw) == 1);
  CHECK(plan->graph().opsOf(OpKind::Conv2d).size() == 3);
}

// What a step of inference convolves, with an activation and a sum behind the convolutions.
Graph inference(std::string_view device = "") {
  Builder g;
  const Tensor image = g.input("image", f32({2, 8, 6, 6})), filter = g.parameter("filter", f32({8, 8, 3, 3})),
               bias = g.parameter("bias", f32({8, 1, 1})),
               pointwise = g.parameter("pointwise", f32({8, 8, 1, 1}));
  const auto here = g.on(device);
  const Tensor first = relu(conv2d(image, filter, {.low = {1, 1}, .high = {1, 1}}) + bias);
  g.fetch("y", conv2d(first, pointwise) + first);
  return *std::move(g).finish();
}

TEST_CASE("choose_layout: inference on a CPU convolves channels that are last, by filters as they are") {
  const auto plan = compile(inference(), test::smallMachine(0), RooflineCostModel());
  REQUIRE(plan.ok());
  const Graph& graph = plan->graph();
  REQUIRE(graph.opsOf(OpKind::FusedConv2d).size() == 2);
  for (const OpId op : graph.opsOf(OpKind::FusedConv2d)) {
    CHECK(graph[op].as<ops::FusedConv2d>().layout == ImageLayout::NhwcOihw);
  }
  CHECK(graph.opsOf(OpKind::Transpose).size() == 2); // the image and the result
}

TEST_CASE("choose_layout: a step that trains keeps its channels first on a CPU") {
  PassOptions onCpu;
  onCpu.onCpus = [](std::string_view /*pin*/) { return true; };
  const Graph before = network();
  CHECK(sameGraph(before, *chooseLayout(before, onCpu)));
  CHECK_FALSE(sameGraph(inference(), *chooseLayout(inference(), onCpu)));
}

TEST_CASE("choose_layout and fuse_matmul for a CPU keep every bit in the evaluator") {
  PassOptions onCpu;
  onCpu.onCpus = [](std::string_view /*pin*/) { return true; };
  const Graph before = inference();
  const Graph last = *chooseLayout(before, onCpu), after = *fuseMatmul(*fuseElementwise(last, onCpu), onCpu);
  CHECK(after.opsOf(OpKind::FusedConv2d).size() == 2);
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const NamedLiterals feeds = test::randomFeeds(before, seed), state = test::randomParameters(before, seed);
    const auto expected = evaluate(before, feeds, state), actual = evaluate(after, feeds, state);
    REQUIRE(expected.ok());
    REQUIRE(actual.ok());
    CHECK(test::bitDifference(expected->fetches.at("y"), actual->fetches.at("y")) == "");
  }
}

TEST_CASE("fuse_matmul: GPUs convolve and finish apart") {
  const auto plan = compile(inference("gpu0"), test::smallMachine(1), RooflineCostModel());
  REQUIRE(plan.ok());
  CHECK(plan->graph().opsOf(OpKind::FusedConv2d).empty());
}

TEST_CASE("choose_layout: transposes of the image and of filters, and of no tensor between the layers") {
  const Graph after = *dropDeadOps(*simplify(*chooseLayout(network(), test::channelsLast())));
  std::multiset<std::string> transposed;
  for (const OpId op : after.opsOf(OpKind::Transpose)) {
    const Shape& shape = after.typeOf(after[op].operands[0]).shape;
    transposed.insert(toString(channelsFirst(
        after[op].as<ops::Transpose>().permutation[1] == 2 ? ImageLayout::Nchw : ImageLayout::Nhwc, shape)));
  }
  // The image; the first filter and its gradient; y, which is fetched. (The second filter is a reshape.)
  CHECK(transposed ==
        std::multiset<std::string>{"[2, 3, 9, 8]", "[2, 6, 4, 3]", "[4, 3, 3, 3]", "[4, 3, 3, 3]"});
}

TEST_CASE("choose_layout: a step keeps every bit in the evaluator") {
  const Graph before = network(), after = *chooseLayout(before, test::channelsLast());
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const NamedLiterals feeds = test::randomFeeds(before, seed), state = test::randomParameters(before, seed);
    const auto expected = evaluate(before, feeds, state), actual = evaluate(after, feeds, state);
    REQUIRE(expected.ok());
    REQUIRE(actual.ok());
    CHECK(test::bitDifference(expected->fetches.at("y"), actual->fetches.at("y")) == "");
    for (const auto& [name, value] : expected->parameters) {
      INFO(name);
      CHECK(test::bitDifference(value, actual->parameters.at(name)) == "");
    }
  }
}

} // namespace dfc
