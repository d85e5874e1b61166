// `dfc compile`: a graph file in, a sealed plan out; or one of the stages as text.
#include "compiler/passes/passes.h"
#include "ir/author/text/print.h"
#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/print/print.h"
#include "tools/dfc/io/parameter_files.h"
#include "tools/dfc/plan_report.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/run/progress.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace dfc::tool {
namespace {

const std::vector<std::string> stages = {"graph", "placed", "schedule", "memory", "launches", "executable"};

struct CompileArguments {
  std::string graph, output, emit;
  PlanOptions plan;
};

constexpr const char* compileExamples = R"(Examples:
  dfc compile samples/02_train_mlp/mlp.dfg -m cpu-2gpu -o mlp.plan
  dfc compile samples/02_train_mlp/mlp.dfg -m cpu-2gpu --emit=schedule
  dfc compile samples/02_train_mlp/mlp.dfg -m cpu-2gpu -o mlp.plan --pin 'h*=gpu0' --memory gpu0=512MB
  dfc compile samples/02_train_mlp/mlp.dfg -o here.plan    # for this host, as dfc run does without a plan
No GPU is needed to compile for one: everything is known from the machine file.)";

std::string stageText(const std::string& stage, const Executable& plan) {
  if (stage == "graph") {
    return printGraph(plan.graph());
  }
  if (stage == "placed") {
    return printPlaced(plan.placed(), plan.machine());
  }
  if (stage == "schedule") {
    return printSchedule(plan.schedule(), plan.placed(), plan.machine());
  }
  if (stage == "memory") {
    return printMemory(plan.memory(), plan.schedule(), plan.placed(), plan.machine());
  }
  if (stage == "launches") {
    return printLaunches(plan.launches(), plan.placed(), plan.schedule(), plan.machine());
  }
  return planSummary(plan) + "\n" + stageText("placed", plan) + "\n" + stageText("schedule", plan) + "\n" +
         stageText("memory", plan) + "\n" + stageText("launches", plan);
}

/// Shows how far compiling has come, and keeps the graph as the last pass left it, before devices came in.
class Watcher : public CompileObserver {
 public:
  Watcher(const Console& console, bool keepGraph)
      : progress_(console, "compiling", static_cast<int64_t>(allPasses().size()) + 4, "stages"),
        keep_(keepGraph) {}
  void graph(const Graph& graph, std::string_view pass) override {
    graphText = keep_ ? printGraph(graph) : "";
    progress_.update(++done_, std::string(pass));
  }
  void placed(const PlacedGraph&) override { progress_.update(++done_, "placed"); }
  void schedule(const Schedule&, const PlacedGraph&) override { progress_.update(++done_, "scheduled"); }
  void memory(const MemoryPlan&, const Schedule&, const PlacedGraph&) override {
    progress_.update(++done_, "memory planned");
  }
  void launches(const LaunchPlan&, const Schedule&, const PlacedGraph&) override { progress_.clear(); }
  std::string graphText;

 private:
  Progress progress_;
  bool keep_;
  int64_t done_ = 0;
};

Exit compileVerb(const CompileArguments& arguments, Console& console) {
  if (!arguments.emit.empty() && std::find(stages.begin(), stages.end(), arguments.emit) == stages.end()) {
    return console.fail(Exit::UserError, {unknownName("stage", arguments.emit, stages)});
  }
  OutputFiles files;
  addInputs(arguments.graph, arguments.plan, files);
  files.writes("-o", arguments.output, {".plan"});
  if (const Diagnostics errors = files.check(); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  Watcher watcher(console, arguments.emit == "graph");
  const auto plan = compileFile(arguments.graph, arguments.plan, &watcher);
  if (!plan) {
    return console.fail(Exit::UserError, plan.errors());
  }
  noteThisHost(arguments.plan, console);
  console.warn(plan.warnings());
  console.warn(missingParameterFiles(plan->graph(), std::filesystem::path(arguments.graph).parent_path()));
  if (!arguments.output.empty()) {
    if (const Status saved = plan->save(arguments.output); !saved) {
      return console.fail(Exit::MachineFailure, saved.errors());
    }
  }
  nlohmann::ordered_json object = nlohmann::ordered_json::parse(planSummaryJson(*plan));
  if (!arguments.output.empty()) {
    object["output"] = arguments.output;
  }
  if (arguments.emit.empty()) {
    console.print(planSummary(*plan));
    console.print(arguments.output.empty() ? "nothing is written: -o FILE.plan keeps the plan\n"
                                           : fmt::format("wrote {}\n", arguments.output));
  } else {
    const std::string text = arguments.emit == "graph" ? watcher.graphText : stageText(arguments.emit, *plan);
    object[arguments.emit] = text;
    console.print(text);
  }
  return console.finish(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace

void addCompile(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<CompileArguments>();
  CLI::App* verb = program.add_subcommand("compile", "Compile a graph file into a plan for a machine");
  verb->add_option("GRAPH", arguments->graph, "graph file (.dfg) or ONNX model")->required();
  addPlanOptions(*verb, arguments->plan);
  verb->add_option("-o,--output", arguments->output, "write the plan here")->type_name("FILE.plan");
  verb->add_option("--emit", arguments->emit, fmt::format("print a stage: {}", fmt::join(stages, ", ")))
      ->type_name("STAGE");
  verb->footer(compileExamples);
  verbs[verb] = [arguments](Console& console) { return compileVerb(*arguments, console); };
}

} // namespace dfc::tool
