// `dfc view`: pictures of a graph, of where it runs, and of when.
#include "ir/atomic_file.h"
#include "ir/computations.h"
#include "ir/text/dot.h"
#include "ir/text/dot_palette.h"
#include "ir/text/parse.h"
#include "ir/text/placed_dot.h"
#include "ir/text/schedule_dot.h"
#include "tools/dfc/graphviz.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace dfc::tool {
namespace {

const std::vector<std::string> pictures = {"graph", "placed", "figure", "schedule"};
const std::vector<std::string> formats = {".dot", ".svg", ".png"};

struct ViewArguments {
  std::string source, what, output;
  bool collapse = false;
  PlanOptions plan;
};

constexpr const char* footer = R"(Pictures:
  graph      the graph as it is written; of a plan its computations as they were compiled
  placed     a frame for each device, copies between them with bytes and route
  figure     one box for each scope on each device; placed --collapse is the same
  schedule   a row for each queue, time from left to right, waits as arrows; --collapse hides the ops of a scope

Examples:
  dfc view samples/02_train_mlp/mlp.dfg --what=graph -o mlp.svg
  dfc view samples/04_graph_file/figure.dfg -m cpu-2gpu --what=figure -o figure.png
  dfc view samples/04_graph_file/figure.dfg -m cpu-2gpu --what=schedule --collapse -o schedule.svg
SVG and PNG are drawn by Graphviz (package graphviz); without -o the DOT text goes to standard output.)";

/// A plan holds its graph as it was compiled, not as it was written: the picture says so.
std::string compiledGraphDot(const Executable& plan) {
  GraphPicture picture;
  picture.explanation =
      "as compiled into a plan, which does not keep the graph as it was written (draw the .dfg for that): "
      "gradients are written out, chains of elementwise ops fused, unused ops gone\n"
      "copies between devices and replicas of parameters are left out: --what=placed has them";
  picture.meaningOfPin = "runs on it";
  picture.devices = dot::deviceNames(plan.machine());
  return graphDot(computationsOf(plan.placed(), plan.machine()), picture);
}

Result<std::string> planDot(const ViewArguments& arguments) {
  const auto plan = planOf(arguments.source, arguments.plan);
  if (!plan) {
    return plan.errors();
  }
  const PlacedGraph& placed = (*plan)->placed();
  const Machine& machine = (*plan)->machine();
  if (arguments.what == "schedule") {
    return scheduleDot((*plan)->schedule(), placed, machine, arguments.collapse);
  }
  if (arguments.what == "figure" || (arguments.what == "placed" && arguments.collapse)) {
    return figureDot(placed, machine);
  }
  return arguments.what == "placed" ? placedDot(placed, machine) : compiledGraphDot(**plan);
}

Result<std::string> dotOf(const ViewArguments& arguments) {
  const auto plan = isPlanFile(arguments.source);
  if (!plan) {
    return plan.errors();
  }
  if (arguments.what != "graph" || *plan) {
    return planDot(arguments);
  }
  const auto graph = readGraph(arguments.source);
  if (!graph) {
    return graph.errors();
  }
  return graphDot(*graph);
}

Status writePicture(const std::string& dot, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const auto contents = ending == ".dot" ? Result<std::string>(dot) : renderDot(dot, ending.substr(1));
  if (!contents) {
    return contents.errors();
  }
  return writeFileAtomically(path, *contents);
}

Exit viewVerb(const ViewArguments& arguments, Console& console) {
  Diagnostics errors;
  if (std::find(pictures.begin(), pictures.end(), arguments.what) == pictures.end()) {
    errors.push_back(unknownName("picture", arguments.what, pictures));
  }
  const std::string ending = std::filesystem::path(arguments.output).extension().string();
  if (!arguments.output.empty() && std::find(formats.begin(), formats.end(), ending) == formats.end()) {
    Diagnostic error = unknownName("picture format", ending, formats);
    error.where.file = arguments.output;
    errors.push_back(error);
  }
  if (errors.empty()) {
    OutputFiles files;
    addInputs(arguments.source, arguments.plan, files);
    files.writes("-o", arguments.output);
    errors = files.check();
  }
  if (!errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  const auto dot = dotOf(arguments);
  if (!dot) {
    return console.fail(Exit::UserError, dot.errors());
  }
  nlohmann::ordered_json object{{"what", arguments.what}};
  if (arguments.output.empty()) {
    console.print(*dot);
    object["dot"] = *dot;
  } else {
    if (const Status written = writePicture(*dot, arguments.output); !written) {
      return console.fail(Exit::UserError, written.errors());
    }
    console.print(fmt::format("wrote {}\n", arguments.output));
    object["output"] = arguments.output;
  }
  return console.finish(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace

void addView(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<ViewArguments>();
  CLI::App* verb = program.add_subcommand("view", "Draw a graph, its placement or its schedule");
  verb->add_option("GRAPH|PLAN", arguments->source, "graph file (.dfg) or plan")->required();
  verb->add_option("--what", arguments->what, fmt::format("one of: {}", fmt::join(pictures, ", ")))
      ->type_name("PICTURE")
      ->required();
  verb->add_option("-o,--output", arguments->output, "write it here: .dot, .svg or .png")->type_name("FILE");
  verb->add_flag("--collapse", arguments->collapse, "one box for each scope (placed, schedule)");
  addPlanOptions(*verb, arguments->plan, /*machineRequired=*/false);
  verb->footer(footer);
  verbs[verb] = [arguments](Console& console) { return viewVerb(*arguments, console); };
}

} // namespace dfc::tool
