// The page of a plan, as `dfc view -o page.html` writes it.
#include "compiler/explain/explain.h"
#include "compiler/simulate/simulate.h"
#include "ir/draw/page/plan_page.h"
#include "tools/dfc/explanation_json.h"
#include "tools/python/module/planning/plan.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

/// The step of median length.
void addMeasured(PageContents& contents, const Trace& trace, const std::vector<uint32_t>& steps) {
  const uint32_t step = medianStep(trace, contents.plan, steps);
  contents.measured = traceStep(trace, contents.plan, step);
  contents.which = fmt::format("step {} of the trace", step);
  if (steps.size() > 1) {
    contents.which += fmt::format(", of median length among {}", steps.size());
  }
  contents.backends = trace.backends;
}

std::vector<uint32_t> stepsOfTrace(const Plan& plan, const PlanTrace& measured) {
  if (measured.executable != plan.executable) {
    throw nb::value_error("the trace is of another plan: session.plan.page(session.take_trace())");
  }
  std::vector<uint32_t> steps = completeSteps(measured.trace, *plan.executable);
  if (steps.empty()) {
    throw nb::value_error("the trace has no whole step: run one in a session with trace=True first");
  }
  return steps;
}

} // namespace

std::string pageOf(const Plan& self, const PlanTrace* measured) {
  const std::vector<uint32_t> steps =
      measured != nullptr ? stepsOfTrace(self, *measured) : std::vector<uint32_t>();
  const Executable& plan = *self.executable;
  const nb::gil_scoped_release unlocked;
  PageContents contents{plan};
  contents.explanation = tool::explanationJson(explainPlan(plan));
  const Simulation simulation = simulate(plan);
  contents.predicted = traceStep(simulation.trace, plan, 0);
  contents.lead = simulation.makespan - contents.predicted.makespan;
  if (measured != nullptr) {
    addMeasured(contents, measured->trace, steps);
  }
  return planPage(contents);
}

} // namespace dfc::python
