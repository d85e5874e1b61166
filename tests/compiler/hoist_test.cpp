// Which ops are taken out of a step, as text, and that step and preparation together are the graph.
#include "compiler/hoist/hoist_invariant_ops.h"

#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/text/print.h"
#include "ir/verify/verify.h"
#include "runtime/executable_folder.h"
#include "tests/support/golden.h"
#include "tests/support/parsed.h"
#include "tests/support/random_graph.h"

using namespace dfc;
using namespace dfc::test;

namespace {

std::filesystem::path goldenFile(const std::string& name) { return shippedFile("tests/golden/hoist") / name; }

Graph graphIn(const std::filesystem::path& file) { return *parseGraph(readText(file), file.string()); }

} // namespace

TEST_CASE("hoist: golden cases") {
  for (const std::string name : {"weights", "generated", "left_alone"}) {
    const Graph graph = graphIn(goldenFile(name + ".dfg"));
    const auto hoisted = hoistInvariantOps(graph);
    const std::string text =
        hoisted ? printGraph(hoisted->step) + "\n# the preparation\n" + printGraph(hoisted->preparation)
                : "# nothing\n";
    checkAgainstFile(goldenFile(name + ".out.dfg"), text);
  }
}

TEST_CASE("hoist: random graphs keep every bit, and prepared values are no longer computed by steps") {
  size_t seen = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = *decompose(randomGraph(seed));
    const auto hoisted = hoistInvariantOps(graph);
    if (!hoisted) {
      continue;
    }
    INFO("seed " << seed);
    ++seen;
    CHECK(verifyGraph(hoisted->step).empty());
    CHECK(verifyGraph(hoisted->preparation).empty());
    CHECK(hoisted->step.opsOf(OpKind::Assign).size() == graph.opsOf(OpKind::Assign).size());
    const NamedLiterals feeds = randomFeeds(graph, seed), weights = randomParameters(graph, seed);
    NamedLiterals read;
    for (const NamedType& parameter : hoisted->preparation.parameters()) {
      read[parameter.name] = weights.at(parameter.name);
    }
    NamedLiterals all = weights;
    all.merge(evaluate(hoisted->preparation, {}, read).orThrow().fetches);
    const Evaluation expected = evaluate(graph, feeds, weights).orThrow();
    const Evaluation actual = evaluate(hoisted->step, feeds, all).orThrow();
    for (const auto& [name, value] : expected.fetches) {
      CHECK(bitDifference(value, actual.fetches.at(name)) == "");
    }
    for (const auto& [name, value] : expected.parameters) {
      CHECK(bitDifference(value, actual.parameters.at(name)) == "");
    }
  }
  CHECK(seen > 60);
}

TEST_CASE("hoist: training is left alone") {
  const Graph graph = parsed(R"(graph training {
    input x : f32[2, 4]
    parameter frozen : f32[4, 4] = normal(0, 1, seed=1)
    parameter w : f32[4, 4] = normal(0, 1, seed=2)
    loss = reduceMean(matmul(matmul(x, exp(frozen)), w))
    dw = gradients(loss, w)
    assign(w, sub(w, dw))
    fetch loss
  })");
  CHECK(hoistInvariantOps(graph)); // exp(frozen)
  CHECK(!hoistUnlessSkipped(graph, graph, {}));
  const Graph evaluation = parsed("graph g { parameter w : f32[2] = zeros() \n y = exp(w) \n fetch y }");
  CHECK(!hoistInvariantOps(evaluation)); // nothing would remain for its step
  const Graph served = parsed(
      "graph g { input x : f32[2] \n parameter w : f32[2] = zeros() \n y = add(x, exp(w)) \n fetch y }");
  CHECK(hoistUnlessSkipped(served, served, {}));
  CHECK(!hoistUnlessSkipped(served, served, {"hoist_invariant_ops"}));
}
