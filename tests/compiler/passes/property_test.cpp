// What every pass promises of every graph, over random graphs of the whole op table: the fetches keep every
// bit, the state keeps every bit, what callers name stays, and nothing depends on chance.
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/graph/same_graph.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/channels_last.h"
#include "tests/support/random_graph.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

struct Case {
  Graph graph;
  NamedLiterals feeds, parameters;
};

// Behind the passes that change rounding, space_to_depth among them unless it is to be tested.
Case caseOf(uint64_t seed, bool spaceToDepthToo = true) {
  test::RandomGraphOptions options;
  if (seed % 3 == 0) {
    options.pins = {"cpu", "gpu0"};
    options.scopes = {"a", "a/b", "c"};
  }
  if (seed % 5 == 1) { // few kinds: long chains for fusion, many identities for algebra
    options.kinds = {OpKind::Add,    OpKind::Neg,       OpKind::Sub,    OpKind::Mul,
                     OpKind::Select, OpKind::Relu,      OpKind::Cast,   OpKind::Broadcast,
                     OpKind::Tanh,   OpKind::ReduceSum, OpKind::Maximum};
  }
  if (seed % 5 == 2) {
    options.kinds = {OpKind::Reshape, OpKind::Transpose,   OpKind::Slice,  OpKind::Pad,
                     OpKind::Concat,  OpKind::Broadcast,   OpKind::Matmul, OpKind::ReduceMax,
                     OpKind::Cut,     OpKind::StopGradient};
  }
  if (seed % 5 == 4) { // products with something to end in
    options.kinds = {OpKind::Matmul, OpKind::Matmul,  OpKind::Add,  OpKind::Mul,
                     OpKind::Sub,    OpKind::Relu,    OpKind::Cast, OpKind::Tanh,
                     OpKind::Select, OpKind::Compare, OpKind::Cut};
  }
  options.request = seed % 4 == 3; // training graphs: forward, backward, updates
  Graph graph =
      *fuseBatchNorm(*decompose(*expandGradients(*recogniseAttention(test::randomGraph(seed, options)))));
  if (spaceToDepthToo) {
    graph = *spaceToDepth(graph, test::channelsLast());
  }
  const auto mood = seed % 2 == 0 ? test::Mood::Tame : test::Mood::Wild;
  NamedLiterals feeds = test::randomFeeds(graph, seed, mood);
  NamedLiterals parameters = test::randomParameters(graph, seed, mood);
  return {std::move(graph), std::move(feeds), std::move(parameters)};
}

Graph runAll(Graph graph) {
  for (const PassRow& pass : allPasses()) {
    graph = *pass.run(graph, test::channelsLast());
  }
  return graph;
}

bool has(const Graph& graph, std::string_view name, OpKind kind) {
  const ValueId value = graph.findValue(name);
  return value.valid() && graph[graph[value].producer].kind() == kind;
}

void checkSameNames(const Case& before, const Graph& after) {
  for (const auto& [name, value] : before.feeds) {
    INFO("input " << name);
    REQUIRE(has(after, name, OpKind::Input));
  }
  REQUIRE(after.fetches().size() == before.graph.fetches().size());
  for (size_t i = 0; i < after.fetches().size(); ++i) {
    REQUIRE(after.text(after.fetches()[i].name) == before.graph.text(before.graph.fetches()[i].name));
  }
}

// What kept its name kept its place in the author's picture and on his machine.
void checkSamePlaces(const Graph& before, const Graph& after) {
  for (const OpId op : after.ops()) {
    // No pass but `gradients` makes up names; narrow_movement, space_to_depth, choose_layout and fuse_matmul
    // add to a name the type or the form of another tensor, and make it unique by a number.
    std::string name(after.nameOf(op));
    for (const std::string suffix :
         {".bf16", ".f16", ".wide", ".blocks", ".nhwc", ".nchw", ".product", ".addend"}) {
      name = before.findValue(name).valid() ? name : name.substr(0, name.rfind(suffix));
    }
    const ValueId old = before.findValue(name);
    REQUIRE(old.valid());
    REQUIRE(after.scopeOf(op) == before.scopeOf(before[old].producer));
    REQUIRE(after.pinOf(op) == before.pinOf(before[old].producer));
  }
}

void checkSameValues(const Case& before, const Graph& after) {
  const Result<Evaluation> expected = evaluate(before.graph, before.feeds, before.parameters);
  const Result<Evaluation> actual = evaluate(after, before.feeds, before.parameters);
  REQUIRE(expected.ok());
  REQUIRE(actual.ok());
  for (const auto& [name, value] : expected->fetches) {
    INFO("fetch " << name);
    REQUIRE(test::bitDifference(value, actual->fetches.at(name)) == "");
  }
  for (const auto& [name, value] : expected->parameters) {
    INFO("parameter " << name);
    REQUIRE(test::bitDifference(value, actual->parameters.at(name)) == "");
  }
}

void checkKept(const Case& before, const Graph& after) {
  REQUIRE(render(verifyGraph(after)) == "");
  checkSameNames(before, after);
  checkSamePlaces(before.graph, after);
  checkSameValues(before, after);
}

double bytesMoved(const Graph& graph) {
  double bytes = 0;
  for (const OpId op : graph.ops()) {
    bytes += costOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).bytes;
  }
  return bytes;
}

constexpr uint64_t cases = 600;

// Views are free: fuse_matmul makes them of what a product's epilogue reads.
size_t madeValues(const Graph& graph) {
  const auto isMade = [&](ValueId value) {
    return classOf(graph[graph[value].producer].kind()) != OpClass::View;
  };
  return static_cast<size_t>(llvm::count_if(graph.values(), isMade));
}

void checkEachPass(uint64_t begin, uint64_t every) {
  for (uint64_t seed = begin; seed < cases; seed += every) {
    const Case before = caseOf(seed);
    for (const PassRow& pass : allPasses()) {
      INFO("seed " << seed << ", pass " << pass.name);
      const Result<Graph> after = pass.run(before.graph, test::channelsLast());
      REQUIRE(after.ok());
      checkKept(before, *after);
    }
  }
}

} // namespace

TEST_CASE("passes: each keeps every fetch, every state and every bit") { checkEachPass(0, 4); }

TEST_CASE("passes: each keeps every fetch, every state and every bit, the long run", "[heavy]") {
  checkEachPass(1, 1);
}

TEST_CASE("passes: all in a row keep every fetch, every state and every bit") {
  for (uint64_t seed = 0; seed < cases; ++seed) {
    INFO("seed " << seed);
    const Case before = caseOf(seed);
    checkKept(before, runAll(before.graph));
  }
}

TEST_CASE("passes: space_to_depth keeps names and places, and finds nothing twice") {
  size_t rewritten = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    INFO("seed " << seed);
    const Case before = caseOf(seed, false);
    const Graph after = *spaceToDepth(before.graph, test::channelsLast());
    REQUIRE(render(verifyGraph(after)) == "");
    checkSameNames(before, after);
    checkSamePlaces(before.graph, after);
    REQUIRE(sameGraph(after, *spaceToDepth(after, test::channelsLast())));
    rewritten += sameGraph(before.graph, after) ? 0 : 1;
  }
  CHECK(rewritten >= 3);
}

TEST_CASE("passes: none makes a graph larger, or moves more bytes") {
  for (uint64_t seed = 0; seed < cases; ++seed) {
    Graph graph = caseOf(seed).graph;
    for (const PassRow& pass : allPasses()) {
      INFO("seed " << seed << ", pass " << pass.name);
      Graph after = *pass.run(graph, {});
      // A folded split is a constant a result, a folded view a constant.
      REQUIRE((after.valueCount() <= graph.valueCount() || madeValues(after) <= madeValues(graph)));
      REQUIRE(bytesMoved(*dropDeadOps(after)) <= bytesMoved(*dropDeadOps(graph)));
      graph = std::move(after);
    }
  }
}

TEST_CASE("passes: the same graph gives the same graph, and a second run finds nothing to drop") {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    INFO("seed " << seed);
    const Graph graph = caseOf(seed).graph;
    const Graph once = runAll(graph);
    REQUIRE(sameGraph(once, runAll(graph)));
    REQUIRE(sameGraph(once, *dropDeadOps(once)));
    REQUIRE(madeValues(once) == madeValues(*shareCommonOps(once)));
  }
}

TEST_CASE("passes: fusion and the others have work in the random graphs") {
  size_t fused = 0, reducing = 0, finished = 0, before = 0, after = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = caseOf(seed).graph;
    const Graph result = runAll(graph);
    before += graph.opCount();
    after += result.opCount();
    for (const OpId op : result.ops()) {
      const auto* body = result[op].getIf<ops::Fused>();
      fused += body != nullptr ? 1 : 0;
      finished += result[op].kind() == OpKind::FusedMatmul ? 1 : 0;
      reducing += body != nullptr && body->reduction != ops::Fused::Reduction::None ? 1 : 0;
    }
  }
  // Enough that the properties above are not kept by passes that do nothing.
  CHECK(fused >= 30);
  CHECK(reducing >= 3);
  CHECK(finished >= 5);
  CHECK(after * 10 < before * 9);
}

} // namespace dfc
