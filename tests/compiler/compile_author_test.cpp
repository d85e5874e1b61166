// What `compile` says to an author of a graph as a whole: warnings beside the plan, and steps without a
// result.
#include "compiler/compile.h"
#include "ir/author/dsl.h"
#include "ir/author/text/parse.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"

using namespace dfc;

namespace {

Result<Executable> compiled(const Graph& graph) {
  return compile(graph, test::smallMachine(0), RooflineCostModel());
}

Graph parsedGraph(const std::string& body) {
  auto graph = parseGraph("graph g {\n" + body + "}\n", "g.dfg");
  REQUIRE(graph.ok());
  return *std::move(graph);
}

} // namespace

TEST_CASE("compile: a parameter that the loss does not reach is a warning beside the plan") {
  const auto plan = compiled(parsedGraph("  parameter w : f32[2] = zeros()\n"
                                         "  parameter v : f32[2] = zeros()\n"
                                         "  loss = reduceSum(w)\n"
                                         "  dw, dv = gradients(loss, w, v)\n"
                                         "  assign(w, w - dw)\n"
                                         "  assign(v, v - dv)\n"));
  REQUIRE(plan.ok());
  REQUIRE(plan.warnings().size() == 1);
  CHECK(plan.warnings()[0].message == "'loss' does not depend on parameter 'v': its gradient is zeros");
  CHECK(plan.warnings()[0].where.file == "g.dfg");
  CHECK(plan.warnings()[0].where.line == 5);
}

TEST_CASE("compile: a graph without mistakes has no warnings") {
  const auto plan = compiled(parsedGraph("  parameter w : f32[2] = zeros()\n"
                                         "  loss = reduceSum(w)\n"
                                         "  dw = gradients(loss, w)\n"
                                         "  fetch dw\n"));
  REQUIRE(plan.ok());
  CHECK(plan.warnings().empty());
}

TEST_CASE("compile: a pass to skip that does not exist is an error, with the near name") {
  const Graph graph = parsedGraph("  input x : f32[2]\n  fetch y = relu(x)\n");
  CompileOptions options;
  options.skipPasses = {"simplfy", "share_common_ops", "quux"};
  const auto plan = compile(graph, test::smallMachine(0), RooflineCostModel(), options);
  REQUIRE(plan.errors().size() == 2);
  CHECK(plan.errors()[0].message == "there is no pass 'simplfy' to skip");
  CHECK(plan.errors()[0].hint == "did you mean 'simplify'?");
  CHECK(plan.errors()[1].hint.starts_with("the passes are recognise_attention, scale_losses, gradients, "));
  options.skipPasses = {"simplify", "share_common_ops"};
  CHECK(compile(graph, test::smallMachine(0), RooflineCostModel(), options).ok());
}

TEST_CASE("compile: a graph that fetches and assigns nothing is refused at its last op") {
  const auto idle = compiled(parsedGraph("  input x : f32[2]\n  y = relu(x)\n"));
  REQUIRE(idle.errors().size() == 1);
  CHECK(idle.errors()[0].message ==
        "graph 'g' fetches nothing and assigns nothing: a step would compute nothing");
  CHECK(idle.errors()[0].where.line == 3);
  CHECK(compiled(parsedGraph("")).errors().size() == 1);
  CHECK(compiled(parsedGraph("  input x : f32[2]\n  parameter w : f32[2] = zeros()\n  assign(w, x)\n")).ok());
}
