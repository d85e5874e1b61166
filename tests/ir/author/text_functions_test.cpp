// Schedules and update rules in graph files: functions that become ops.
#include "ir/author/text/functions.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "ir/graph/same_graph.h"
#include "tests/support/catch.h"

#include <algorithm>

namespace dfc {
namespace {

std::string withStatement(const std::string& statement) {
  return "graph g {\n  input x : f32[2, 3]\n  parameter w : f32[3, 1] = constant(1)\n  parameter \"fc.bias\" "
         ": f32[1] = "
         "zeros()\n  parameter count : i64[] = zeros()\n  parameter mean : f32[] = zeros()\n  y = matmul(x, "
         "w) + "
         "\"fc.bias\"\n  assign(mean, 0.5 * mean)\n  loss = reduceMean(y * y) + 0 * mean\n  " +
         statement + "\n  fetch loss\n}\n";
}

Graph graphWith(const std::string& statement) {
  return parseGraph(withStatement(statement), "g.dfg").orThrow();
}

std::vector<std::string> assignedIn(const Graph& graph) {
  std::vector<std::string> names;
  for (const OpId op : graph.opsOf(OpKind::Assign)) {
    names.emplace_back(graph.nameOf(graph[op].operands[0]));
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_CASE("an update trains all that the loss depends on and nothing assigns", "[text]") {
  const auto assigned = assignedIn(graphWith("adam(loss, rate=0.01, weightDecay=0.1, noDecay=\"*.bias\")"));
  CHECK(has(assigned, "w"));
  CHECK(has(assigned, "fc.bias"));
  CHECK_FALSE(has(assigned, "count"));
  CHECK(std::count(assigned.begin(), assigned.end(), "mean") == 1);
  CHECK(assignedIn(graphWith("sgd(loss, w, rate=0.1)")) == std::vector<std::string>{"mean", "w"});
}

TEST_CASE("every function is written, printed and read again", "[text]") {
  for (const std::string statement :
       {"sgd(loss, rate=0.1, clipNorm=1)", "momentum(loss, momentum=0.8, nesterov=true, weightDecay=1e-4)",
        "adam(loss, beta1=0.8, beta2=0.99, epsilon=1e-6) on cpu0",
        "lion(loss, w, onlyIf=compare(loss, 0, direction=gt))", "adafactor(loss, rate=1e-3)",
        "rate = 0.1 * warmUp(step(), steps=10)\n  sgd(loss, rate=rate)",
        "r = linearDecay(step(), steps=5, end=0.5) * stepDecay(step(), steps=3)\n  adam(loss, rate=r)",
        "r = cosineDecay(step(), steps=5)\n  r2 = r * 2\n  lion(loss, rate=r2 * 0.1)"}) {
    INFO(statement);
    const Graph graph = graphWith(statement);
    const std::string printed = printGraph(graph);
    CHECK(sameGraph(graph, parseGraph(printed, "printed.dfg").orThrow()));
    CHECK(assignedIn(graph).size() >= 2);
  }
  const Graph named = graphWith("r = cosineDecay(step(), steps=5)\n  fetch r");
  CHECK(named.findValue("r").valid());
  for (const text::FunctionRow& row : text::functionRows()) {
    CHECK_FALSE(opKindNamed(row.name).has_value());
  }
}

TEST_CASE("ops of an update are said to be written where it is", "[text]") {
  const Graph graph = graphWith("scope update on gpu0 { sgd(loss, w, rate=0.1) }");
  const OpId assign = *graph.opsOf(OpKind::Assign).rbegin();
  CHECK(graph.locationOf(assign).file == "g.dfg");
  CHECK(graph.locationOf(assign).line == 10);
  CHECK(graph.scopeOf(assign) == "update");
  CHECK(graph.pinOf(assign) == "gpu0");
}

} // namespace
} // namespace dfc
