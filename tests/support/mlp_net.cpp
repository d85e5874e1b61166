#include "tests/support/mlp_net.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"
#include "ir/base/assert.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

constexpr int64_t features = 512;
constexpr double rate = 0.01;

// A layer's sum, and its two parameters at the end of the list.
Tensor dense(Builder& g, Tensor x, int64_t units, std::vector<Tensor>& parameters) {
  const auto layer = static_cast<int64_t>(parameters.size() / 2 + 1);
  const Tensor w = g.parameter(fmt::format("w{}", layer), f32({x.shape()[1], units}), glorot(layer));
  const Tensor b = g.parameter(fmt::format("b{}", layer), f32({units}));
  parameters.insert(parameters.end(), {w, b});
  return matmul(x, w) + b;
}

} // namespace

Graph mlpNet(int64_t batch) {
  DFC_ASSERT(batch >= 1, "a batch without rows");
  Builder g("mlp");
  const Tensor x = g.input("x", f32({batch, features})), y = g.input("y", f32({batch, 1}));
  std::vector<Tensor> parameters;
  const Tensor h1 = relu(dense(g, x, 2048, parameters)).named("h1");
  const Tensor h2 = relu(dense(g, h1, 512, parameters)).named("h2");
  const Tensor difference = (dense(g, h2, 1, parameters) - y).named("difference");
  const Tensor loss = reduceMean(difference * difference).named("loss");
  sgd(parameters, gradients(loss, parameters), rate);
  g.fetch("loss", loss);
  Result<Graph> graph = std::move(g).finish();
  DFC_ASSERT(graph.ok(), render(graph.errors()));
  return *std::move(graph);
}

} // namespace dfc::test
