// `dfc explain`: what a plan over many devices does, why it was chosen, and what another machine would give.
#include "compiler/explain/explain.h"
#include "compiler/explain/explain_quotient.h"
#include "compiler/grids.h"
#include "tools/dfc/explanation_json.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>

namespace dfc::tool {
namespace {

struct ExplainArguments {
  std::string graph;
  PlanOptions plan;
  size_t depth = ExplainOptions().scopeDepth;
  bool quick = false, allCandidates = false;
  std::string grid; // "2x4x8x16"; empty: the best
};

/// The largest number of a grid, so that their product has no overflow.
constexpr size_t mostOfGrid = 1'000'000;
constexpr const char* gridForm =
    "STAGESxGROUPSxDEVICES or STAGESxGROUPSxDEVICESxMICROBATCHES, for example 2x4x8x16";

/// "2x4x8" or "2x4x8x16".
Result<WantedGrid> parseGrid(const std::string& text) {
  std::vector<size_t> numbers;
  const char *at = text.data(), *const end = at + text.size();
  bool isRight = true;
  while (isRight) {
    const auto [stop, fault] = std::from_chars(at, end, numbers.emplace_back());
    isRight = fault == std::errc() && numbers.back() > 0 && numbers.back() <= mostOfGrid;
    if (stop == end) {
      break;
    }
    isRight = isRight && *stop == 'x';
    at = stop + 1;
  }
  if (!isRight || numbers.size() < 3 || numbers.size() > 4) {
    return errorWithoutPlace(fmt::format("--grid {}: is no grid", text), fmt::format("give {}", gridForm));
  }
  WantedGrid wanted{{numbers[0], numbers[1], numbers[2]}, {}};
  if (numbers.size() == 4) {
    wanted.microBatches = numbers[3];
  }
  return wanted;
}

constexpr const char* explainFooter =
    R"(Printed are: the devices; how the ops of each scope run; where each parameter is; what devices send one another, and how
much of that is hidden behind computation; the predicted step beside one device, the bound of this placement and that
of all splits along one axis; of the plans that were considered the best of each kind (one device, whole ops, split
along one axis, grid), and why they lost (all of them with --all-candidates); and what one more device, faster links or
more memory would give. For a machine of more than 128 devices no plan is made: one device of each stage is simulated,
and its grid is told. So it is, on any machine, with --grid: the grid that is asked for is described, and the others are
listed beside it, by the same simulation; on at most 16 devices a plan over it is made beside that, whose seconds are
counted as those of every plan.

Examples:
  dfc explain samples/02_train_mlp/mlp.dfg -m cpu-2gpu
  dfc explain samples/02_train_mlp/mlp.dfg -m cpu-8gpu-nvlink --policy split --quick
  dfc explain samples/02_train_mlp/mlp.dfg -m cpu-2gpu --precision bf16 --quick --json
  dfc explain samples/02_train_mlp/mlp.dfg -m cpu-8gpu-nvlink --grid 2x4x1x5)";

Exit explainVerb(const ExplainArguments& arguments, Console& console) {
  OutputFiles files;
  addInputs(arguments.graph, arguments.plan, files);
  if (const Diagnostics errors = files.check(); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  ExplainOptions wanted{arguments.depth, !arguments.quick, !arguments.quick, {}};
  if (!arguments.grid.empty()) {
    auto grid = parseGrid(arguments.grid);
    if (!grid) {
      return console.fail(Exit::UserError, grid.errors());
    }
    wanted.grid = *grid;
    if (!arguments.plan.policy.empty()) {
      return console.fail(Exit::UserError,
                          Diagnostics{errorWithoutPlace(
                              "--policy and --grid exclude one another: a grid is simulated without "
                              "a policy",
                              "leave one of them out")});
    }
  }
  Explanation explanation;
  const FileOutcome outcome =
      useGraphFile(arguments.graph, arguments.plan,
                   [&](const Graph& graph, const Machine& machine, const CostModel& cost,
                       const CompileOptions& options) -> FileOutcome {
                     const bool mayUseAll = options.policy == "auto" || options.policy == "split";
                     if (wanted.grid || (mayUseAll && machine.devices.size() > mostPlannedDevices)) {
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
  noteThisHost(arguments.plan, console);
  console.warn(outcome.warnings);
  console.print(printExplanation(explanation, arguments.allCandidates));
  return console.finish(explanationJson(explanation));
}

} // namespace

void addExplain(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* verb =
      program.add_subcommand("explain", "Say how a graph is cut over devices, why so, and what would help");
  verb->add_option("GRAPH", arguments->graph, "graph file (.dfg) or ONNX model")->required();
  addPlanOptions(*verb, arguments->plan);
  verb->add_option("--depth", arguments->depth,
                   fmt::format("how many of the nested scopes are told apart (default {})",
                               ExplainOptions().scopeDepth))
      ->type_name("N")
      ->check(wholeNumber(1, 100));
  verb->add_flag("--quick", arguments->quick, "plan once: neither for one device nor for other machines");
  verb->add_flag("--all-candidates", arguments->allCandidates,
                 "every plan that was considered, rather than the best of each kind");
  verb->add_option("--grid", arguments->grid,
                   std::string("what this grid of pipeline stages, groups a stage and devices a group would "
                               "take, without a plan: ") +
                       gridForm)
      ->type_name("GRID");
  verb->footer(explainFooter);
  verbs[verb] = [arguments](Console& console) { return explainVerb(*arguments, console); };
}

} // namespace dfc::tool
