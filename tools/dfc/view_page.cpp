#include "tools/dfc/view_page.h"

#include "compiler/explain/explain.h"
#include "compiler/simulate/simulate.h"
#include "ir/draw/page/plan_page.h"
#include "tools/dfc/explanation_json.h"
#include "tools/dfc/view_trace.h"

namespace dfc::tool {
namespace {

struct ExplainedSource {
  std::shared_ptr<const Executable> plan;
  std::string explanation;
};

/// All nested scopes are told apart: the page has a line for each.
constexpr ExplainOptions explainedOnPage{/*scopeDepth=*/100, /*changes=*/false, /*oneDevice=*/false, {}};

Result<ExplainedSource> explainedGraph(const std::string& source, const PlanOptions& options) {
  ExplainedSource explained;
  const FileOutcome outcome = useGraphFile(
      source, options,
      [&](const Graph& graph, const Machine& machine, const CostModel& cost,
          const CompileOptions& compileOptions) -> FileOutcome {
        auto both = explain(graph, machine, cost, compileOptions, explainedOnPage);
        if (!both) {
          return {both.errors(), {}};
        }
        explained = {std::make_shared<Executable>(both->plan), explanationJson(both->explanation)};
        return {{}, both.warnings()};
      });
  if (!outcome.errors.empty()) {
    return outcome.errors;
  }
  return Result<ExplainedSource>(std::move(explained)).withWarnings(outcome.warnings);
}

Result<ExplainedSource> explainedSource(const std::string& source, const PlanOptions& options) {
  const auto isPlan = isPlanFile(source);
  if (!isPlan) {
    return isPlan.errors();
  }
  if (!*isPlan) {
    return explainedGraph(source, options);
  }
  const auto plan = planOf(source, options);
  if (!plan) {
    return plan.errors();
  }
  return Result<ExplainedSource>(ExplainedSource{*plan, explanationJson(explainPlan(**plan))})
      .withWarnings(plan.warnings());
}

} // namespace

Result<std::string> pageOf(const std::string& source, const PlanOptions& options, const std::string& trace,
                           std::optional<uint32_t> step) {
  const auto explained = explainedSource(source, options);
  if (!explained) {
    return explained.errors();
  }
  const Executable& plan = *explained->plan;
  PageContents contents{plan};
  contents.explanation = explained->explanation;
  if (trace.empty()) {
    const Simulation simulation = simulate(plan);
    contents.predicted = traceStep(simulation.trace, plan, 0);
    contents.lead = simulation.makespan - contents.predicted.makespan;
  } else {
    auto comparison = compareWithTrace(plan, trace, step);
    if (!comparison) {
      return comparison.errors();
    }
    contents.predicted = std::move(comparison->predicted);
    contents.measured = std::move(comparison->measured);
    contents.which = std::move(comparison->which);
    contents.backends = std::move(comparison->backends);
    contents.lead = comparison->lead;
  }
  return Result<std::string>(planPage(contents)).withWarnings(explained.warnings());
}

} // namespace dfc::tool
