// explain: a plan and the reasons for it, as JSON that the package makes plain objects of.
#include "compiler/explain/explain.h"

#include "compiler/cost/calibrated_cost_model.h"
#include "tools/dfc/explanation_json.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/plan.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

Result<Explained> explainWith(const Graph& graph, const Machine& machine, const Options& options,
                              const ExplainOptions& how) {
  const RooflineCostModel roofline;
  if (options.calibrations.empty()) {
    return explain(graph, machine, roofline, options, how);
  }
  return explain(graph, machine, CalibratedCostModel(options.calibrations, roofline), options, how);
}

std::tuple<Plan, std::string, std::string> explained(const Graph& graph, const Machine& machine,
                                                     const Options& options, size_t scopeDepth,
                                                     bool changes) {
  ExplainOptions how;
  how.scopeDepth = scopeDepth;
  how.changes = changes;
  auto made = [&] {
    const nb::gil_scoped_release unlocked;
    return explainWith(graph, machine, options, how);
  }();
  Explained found = orRaise(std::move(made));
  return {Plan{std::make_shared<const Executable>(std::move(found.plan))},
          tool::explanationJson(found.explanation), printExplanation(found.explanation)};
}

} // namespace

void bindExplain(nb::module_& module) {
  module.def("explain_graph", explained, "graph"_a, "machine"_a, "options"_a, "scope_depth"_a, "changes"_a,
             "What dfc.explain calls: the plan, its explanation as JSON and as text.");
}

} // namespace dfc::python
