#include "tools/library/open.h"

namespace dfc {

Result<std::unique_ptr<Session>> open(const Graph& graph, const Machine& machine,
                                      const CompileOptions& compileOptions,
                                      const SessionOptions& sessionOptions) {
  return open(graph, machine, RooflineCostModel(), compileOptions, sessionOptions);
}

Result<std::unique_ptr<Session>> open(const Graph& graph, const Machine& machine, const CostModel& cost,
                                      const CompileOptions& compileOptions,
                                      const SessionOptions& sessionOptions) {
  auto plan = compile(graph, machine, cost, compileOptions);
  if (!plan) {
    return plan.errors();
  }
  const Diagnostics warnings = plan.warnings();
  return Session::open(std::make_shared<const Executable>(*std::move(plan)), sessionOptions)
      .withWarnings(warnings);
}

} // namespace dfc
