// A training step for the tests of scale_losses.
#pragma once

#include "compiler/passes/passes.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <functional>

namespace dfc::test {

inline const PassOptions inF16 = {.precision = Precision::F16};

inline Graph finishedStep(Builder&& g) {
  Result<Graph> graph = std::move(g).finish();
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

/// A loss of w and x, of which `train` makes a step.
inline Graph stepOf(const std::function<void(Builder& g, Tensor w, Tensor x, Tensor loss)>& train) {
  Builder g("step");
  const Tensor w = g.parameter("w", f32({3, 4}), normal(0, 1, 1)), x = g.input("x", f32({2, 3}));
  const Tensor loss = reduceMean(tanh(matmul(x, w))).named("loss");
  g.fetch("loss", loss);
  train(g, w, x, loss);
  return finishedStep(std::move(g));
}

} // namespace dfc::test
