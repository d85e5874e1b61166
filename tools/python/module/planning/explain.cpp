// explain: a plan and the reasons for it, as JSON that the package makes plain objects of.
#include "compiler/explain/explain.h"

#include "tools/dfc/explanation_json.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/planning/interruptible.h"
#include "tools/python/module/planning/plan.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

std::tuple<Plan, std::string, std::string> explained(const Graph& graph, const Machine& machine,
                                                     const Options& options, size_t scopeDepth,
                                                     bool changes) {
  ExplainOptions how;
  how.scopeDepth = scopeDepth;
  how.changes = changes;
  std::optional<Result<Explained>> made;
  withStoppableCost(options,
                    [&](const CostModel& cost) { made = explain(graph, machine, cost, options, how); });
  Explained found = orRaise(*std::move(made));
  return {Plan{std::make_shared<const Executable>(std::move(found.plan))},
          tool::explanationJson(found.explanation), printExplanation(found.explanation)};
}

} // namespace

void bindExplain(nb::module_& module) {
  module.def("explain_graph", explained, "graph"_a, "machine"_a, "options"_a, "scope_depth"_a, "changes"_a,
             "What dfc.explain calls: the plan, its explanation as JSON and as text.");
}

} // namespace dfc::python
