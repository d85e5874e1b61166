// See require_plan.h.
#include "tests/conformance/require_plan.h"

#include "tests/support/catch.h"

namespace dfc::test {

Graph requireGraph(Builder&& builder) {
  auto graph = std::move(builder).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

std::shared_ptr<const Executable> requirePlan(const Graph& graph, const Machine& machine,
                                              const CompileOptions& options) {
  auto plan = compile(graph, machine, RooflineCostModel(), options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return std::make_shared<const Executable>(*std::move(plan));
}

} // namespace dfc::test
