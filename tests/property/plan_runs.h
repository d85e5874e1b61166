// Random plans and their results: machines with a few GPUs, pins by dice, runs on the emulated backend.
#pragma once

#include "compiler/compile.h"
#include "runtime/session.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"

namespace dfc::test {

struct Shape {
  int gpus = 0;
  bool peers = false;
  uint32_t queues = 1;
};

/// cpu0 and some gpus. Without peer routes copies between gpus are staged through the host.
Machine machineOf(const Shape& shape);

/// Requires that it compiles.
std::shared_ptr<const Executable> planOf(const Graph& graph, const Machine& machine,
                                         const CompileOptions& options);

/// About half of the computing ops pinned at random to cpu0, gpu0 and gpu1.
std::vector<PinRule> randomPins(const Graph& graph, uint64_t seed);
/// The same graph with these pins as the author's own, the rules' patterns being ops' names; without rules,
/// with no pin at all.
Graph pinned(const Graph& graph, llvm::ArrayRef<PinRule> pins);

struct Outcome {
  std::vector<NamedLiterals> fetches; ///< by step
  NamedLiterals state;
};

/// Some steps with random feeds, the same for the same seed.
Result<Outcome> outcomeOf(const std::shared_ptr<const Executable>& plan, const Graph& graph, uint64_t seed,
                          int steps);
/// Requires that it runs.
Outcome run(const std::shared_ptr<const Executable>& plan, const Graph& graph, uint64_t seed, int steps);

/// "" where they agree bit for bit. The sign and payload of a NaN are nobody's promise: a pin may keep an op
/// that algebra removes elsewhere.
std::string difference(const Outcome& expected, const Outcome& actual);
void checkSame(const Outcome& expected, const Outcome& actual);

} // namespace dfc::test
