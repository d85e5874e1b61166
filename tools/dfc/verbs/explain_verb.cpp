// `dfc explain`: what a plan over many devices does, why it was chosen, and what another machine would give.
#include "compiler/explain/explain.h"
#include "compiler/explain/explain_quotient.h"
#include "compiler/grids.h"
#include "tools/dfc/explanation_json.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>

namespace dfc::tool {
namespace {

struct ExplainArguments {
  std::string graph;
  PlanOptions plan;
  size_t depth = ExplainOptions().scopeDepth;
  bool quick = false;
};

constexpr const char* explainFooter =
    R"(Printed are: the devices; how the ops of each scope run; where each parameter is; what devices send one another, and how
much of that is hidden behind computation; the predicted step beside its bound, that of all splits along one axis, and
one device; the plans that were considered and by how much they are slower; and what one more device, faster links or
more memory would give. For a machine of more than 128 devices no plan is made: one device of each stage is simulated,
and its grid is told.

Examples:
  dfc explain samples/02_train_mlp/mlp.dfg -m cpu-2gpu
  dfc explain samples/02_train_mlp/mlp.dfg -m cpu-8gpu-nvlink --policy split --quick
  dfc explain samples/02_train_mlp/mlp.dfg -m cpu-2gpu --precision bf16 --quick --json)";

Exit explainVerb(const ExplainArguments& arguments, Console& console) {
  OutputFiles files;
  addInputs(arguments.graph, arguments.plan, files);
  if (const Diagnostics errors = files.check(); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  const ExplainOptions wanted{arguments.depth, !arguments.quick, !arguments.quick};
  Explanation explanation;
  const FileOutcome outcome =
      useGraphFile(arguments.graph, arguments.plan,
                   [&](const Graph& graph, const Machine& machine, const CostModel& cost,
                       const CompileOptions& options) -> FileOutcome {
                     const bool mayUseAll = options.policy == "auto" || options.policy == "split";
                     if (mayUseAll && machine.devices.size() > mostPlannedDevices) {
                       auto quotient = explainQuotient(graph, machine, cost, options, wanted);
                       explanation = quotient ? *std::move(quotient) : Explanation();
                       return {quotient.errors(), quotient.warnings()};
                     }
                     auto both = explain(graph, machine, cost, options, wanted);
                     explanation = both ? std::move(both->explanation) : Explanation();
                     return {both.errors(), both.warnings()};
                   });
  if (!outcome.errors.empty()) {
    return console.fail(Exit::UserError, outcome.errors);
  }
  console.warn(outcome.warnings);
  console.print(printExplanation(explanation));
  return console.finish(explanationJson(explanation));
}

} // namespace

void addExplain(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* verb =
      program.add_subcommand("explain", "Say how a graph is cut over devices, why so, and what would help");
  verb->add_option("GRAPH", arguments->graph, "graph file (.dfg)")->required();
  addPlanOptions(*verb, arguments->plan, /*machineRequired=*/true);
  verb->add_option("--depth", arguments->depth, "how many of the nested scopes are told apart")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  verb->add_flag("--quick", arguments->quick, "plan once: neither for one device nor for other machines");
  verb->footer(explainFooter);
  verbs[verb] = [arguments](Console& console) { return explainVerb(*arguments, console); };
}

} // namespace dfc::tool
