// Short ways to make graphs, sessions and literals in tests of the runtime.
#pragma once

#include "ir/author/dsl.h"
#include "runtime/session.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"

namespace dfc::test {

inline Graph finished(Builder&& builder) {
  Result<Graph> graph = std::move(builder).finish();
  DFC_ASSERT(graph.ok(), render(graph.errors()));
  return *std::move(graph);
}

inline std::unique_ptr<Session> opened(std::shared_ptr<const Executable> plan,
                                       const SessionOptions& options = {}) {
  auto session = Session::open(std::move(plan), options);
  DFC_ASSERT(session.ok(), render(session.errors()));
  return *std::move(session);
}

inline Literal floats(const Shape& shape, std::initializer_list<float> values) {
  return Literal(shape, std::span<const float>(values.begin(), values.size()));
}

inline std::vector<float> valuesOf(const Literal& literal) {
  const auto data = literal.data<float>();
  return {data.begin(), data.end()};
}

inline std::vector<std::string> messagesOf(const Diagnostics& errors) {
  std::vector<std::string> messages;
  for (const Diagnostic& error : errors) {
    messages.push_back(error.message + " | " + error.hint);
  }
  return messages;
}

/// z = x * y + 2, all on cpu0.
inline Graph smallestGraph() {
  Builder g("smallest");
  const Tensor x = g.input("x", f32({3}));
  const Tensor y = g.input("y", f32({3}));
  g.fetch("z", (x * y + 2).named("z"));
  return finished(std::move(g));
}

/// w <- w + x each step; fetches the old value times 10.
inline Graph countingGraph() {
  Builder g("counter");
  const Tensor x = g.input("x", f32({2}));
  const Tensor w = g.parameter("w", f32({2}), constantInit(1));
  g.fetch("seen", (w * 10).named("seen"));
  g.assign(w, (w + x).named("next"));
  return finished(std::move(g));
}

using Strings = std::vector<std::string>;
using Floats = std::vector<float>;

} // namespace dfc::test
