// The training step of the benchmark mlp_training through the passes and the planner: products end in their
// bias, activation, mask or update, and the updates run in the parameters' own storage.
#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/mlp_net.h"

#include <map>

namespace dfc::test {
namespace {

Graph passed(Graph graph) {
  for (const PassRow& pass : allPasses()) {
    graph = *pass.run(graph, {});
  }
  return graph;
}

std::map<std::string_view, int> opCounts(const Graph& graph) {
  std::map<std::string_view, int> counts;
  for (const OpId op : graph.ops()) {
    ++counts[nameOf(graph[op].kind())];
  }
  return counts;
}

Executable planned(int64_t batch, const std::string& machineName) {
  const auto machine = readMachine(shippedFile("samples/machines/" + machineName + ".json").string());
  REQUIRE(machine.ok());
  CompileOptions options;
  options.policy = "single";
  options.precision = ops::Precision::Tf32;
  auto plan = compile(mlpNet(batch), *machine, RooflineCostModel(), options);
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

} // namespace

TEST_CASE("mlp net: the step's ops after all passes") {
  const Graph graph = passed(mlpNet(64));
  checkGolden("mlp_net/passed.dfg", printGraph(graph));
  // Eight products: three forward, two gradients of activations, three of weights; each ends in what reads
  // it. Beside them: the mean, the gradient that enters, and for each bias a sum and an update.
  const std::map<std::string_view, int> expected = {{"assign", 6},      {"constant", 3}, {"fused", 5},
                                                    {"fusedMatmul", 8}, {"input", 2},    {"parameter", 6},
                                                    {"reduceSum", 3}};
  CHECK(opCounts(graph) == expected);
}

TEST_CASE("mlp net: every update is made in its parameter's own storage") {
  for (const std::string machine : {"cpu", "cpu-2gpu"}) {
    for (const int64_t batch : {64, 8192}) {
      INFO(machine << ", batch " << batch);
      const Executable plan = planned(batch, machine);
      const Graph& graph = plan.graph();
      int updates = 0;
      for (const OpId op : graph.ops()) {
        if (graph[op].kind() == OpKind::Assign) {
          const OpRow& row = graph[op];
          CHECK(plan.memory().slots[row.operands[1]].offset == plan.memory().slots[row.operands[0]].offset);
          const OpKind maker = graph[graph[row.operands[1]].producer].kind();
          CHECK((maker == OpKind::FusedMatmul || maker == OpKind::Fused));
          ++updates;
        }
      }
      CHECK(updates == 6);
    }
  }
}

TEST_CASE("mlp net: the plan's precision reaches every product, fused or not") {
  const Executable plan = planned(64, "cpu-2gpu");
  int products = 0;
  for (const OpId op : plan.graph().ops()) {
    if (const auto* fused = plan.graph()[op].getIf<ops::FusedMatmul>()) {
      CHECK(fused->precision == ops::Precision::Tf32);
      ++products;
    }
    CHECK(plan.graph()[op].kind() != OpKind::Matmul);
  }
  CHECK(products == 8);
}

} // namespace dfc::test
