// Convolutions of one axis, transposed ones and attention to a memory as layers: their parameters, and what
// they compute, against the functions that they are written with.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/gradients.h"
#include "ir/author/layers.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/random_values.h"

namespace dfc::test {
namespace {

std::string refused(const std::function<Tensor(Layers&, Builder&)>& write) {
  Builder g;
  Layers net(g);
  g.fetch("y", write(net, g));
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE_FALSE(graph.ok());
  return graph.errors()[0].message + " | " + graph.errors()[0].hint;
}

TEST_CASE("layers: a causal convolution of one axis sees no later position, whatever its dilation") {
  constexpr int64_t length = 9, at = 5;
  Builder g;
  Layers net(g, Phase::Training, 0, ElementType::F64);
  const Tensor x = g.input("x", f64({1, 2, length}));
  const Tensor y = net.convolution("conv", x, 3, 2, {.bias = true, .dilation = 3, .causal = true});
  REQUIRE(y.shape() == Shape{1, 3, length});
  CHECK(net.trained()[0].shape() == Shape{3, 2, 2});
  const Tensor here = slice(y, {0, 0, at}, {1, 3, at + 1});
  g.fetch("slope", gradients(reduceSum(here * here), {x})[0]);
  const Graph graph = *std::move(g).finish();
  const auto values =
      evaluate(graph, randomFeeds(graph, 1), randomParameters(graph, 1)).orThrow().fetches.at("slope");
  for (int64_t i = 0; i < 2 * length; ++i) { // the position itself and the one three before it
    CHECK((values.at(i) != 0) == (i % length == at || i % length == at - 3));
  }
}

TEST_CASE("layers: a convolution keeps the length at stride 1, and has PyTorch's shapes") {
  Builder g;
  Layers net(g);
  const Tensor signal = g.input("signal", f32({2, 4, 16})), picture = g.input("picture", f32({2, 4, 16, 12}));
  CHECK(net.convolution("a", signal, 8, 5).shape() == Shape{2, 8, 16});
  CHECK(net.convolution("b", signal, 8, 3, {.stride = 2, .groups = 4}).shape() == Shape{2, 8, 8});
  CHECK(net.convolution("c", picture, 8, 3, {.dilation = 2}).shape() == Shape{2, 8, 16, 12});
  CHECK(net.transposedConvolution("d", picture, 6, 4, {.stride = 2, .padding = 1, .groups = 2, .bias = true})
            .shape() == Shape{2, 6, 32, 24});
  std::vector<Shape> shapes;
  for (const Tensor& parameter : net.trained()) {
    shapes.push_back(parameter.shape());
  }
  CHECK(shapes == std::vector<Shape>{{8, 4, 5}, {8, 1, 3}, {8, 4, 3, 3}, {4, 3, 4, 4}, {6}});
}

TEST_CASE("layers: attention to a memory has its keys and values, and a mask hides them") {
  Builder g;
  Layers net(g, Phase::Training, 0, ElementType::F64);
  const Tensor x = g.input("x", f64({1, 3, 8})), memory = g.input("memory", f64({1, 5, 6}));
  Literal seen(TensorType{ElementType::Bool, {1, 1, 1, 5}});
  seen.set(2, 1);
  const Tensor y = net.attention("cross", x, 2, {.memory = memory, .mask = g.constant(seen)});
  CHECK(y.shape() == x.shape());
  g.fetch("slope", gradients(reduceSum(y * y), {memory})[0]);
  const Graph graph = *std::move(g).finish();
  const auto values =
      evaluate(graph, randomFeeds(graph, 1), randomParameters(graph, 1)).orThrow().fetches.at("slope");
  for (int64_t i = 0; i < 5 * 6; ++i) {
    CHECK((values.at(i) != 0) == (i / 6 == 2));
  }
}

TEST_CASE("layers: convolutions that do not fit are refused") {
  const auto picture = [](Builder& g) { return g.input("x", f32({2, 4, 6, 6})); };
  CHECK_THAT(refused([&](Layers& net, Builder& g) {
               return net.convolution("conv", picture(g), 6, 3, {.groups = 4});
             }),
             containing("divides the channels on both sides"));
  CHECK_THAT(refused([&](Layers& net, Builder& g) {
               return net.convolution("conv", picture(g), 8, 3, {.causal = true});
             }),
             containing("[batch, channels, length]"));
  CHECK_THAT(refused([&](Layers& net, Builder& g) {
               return net.transposedConvolution("up", reshape(picture(g), {2, 4, 36}), 8, 3);
             }),
             containing("transposed convolution 'up'"));
}

} // namespace
} // namespace dfc::test
