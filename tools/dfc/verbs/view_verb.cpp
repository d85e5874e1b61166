// `dfc view`: pictures of a graph, of where it runs, of when, and of when it really ran.
#include "ir/author/text/parse.h"
#include "ir/base/atomic_file.h"
#include "ir/draw/dot.h"
#include "ir/draw/dot_palette.h"
#include "ir/draw/folded_dot.h"
#include "ir/draw/placed_dot.h"
#include "ir/draw/schedule_dot.h"
#include "ir/plan/computations.h"
#include "ir/plan/executable_parts.h"
#include "runtime/training/training_log.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/bounded_picture.h"
#include "tools/dfc/io/numbers.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/verbs.h"
#include "tools/dfc/view_page.h"
#include "tools/dfc/view_trace.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <limits>

namespace dfc::tool {
namespace {

const std::vector<std::string> pictures = {"graph", "placed", "figure", "schedule"};
const std::vector<std::string> formats = {".html", ".dot", ".svg", ".png"};

struct ViewArguments {
  std::string source, what, output, trace;
  std::optional<uint32_t> step;
  bool collapse = false, whole = false;
  PlanOptions plan;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now(); ///< of the program
};

constexpr const char* viewFooter = R"(Pictures:
  graph      the graph as it is written; of a plan its computations as they were compiled
  placed     a frame for each device, copies between them with bytes and route
  figure     one box for each scope on each device; placed --collapse is the same
  schedule   a row for each queue, time from left to right, waits as arrows; --collapse hides the ops of a scope

Without --what, -o draws the graph of a graph file, and the figure of a plan or where -m names a machine; it says which.

A log (FILE.csv) that dfc run --log wrote is drawn as its curves: a panel for each scalar over the steps.

-o FILE.html, in place of --what: one page for a browser with all of it: the graph by scope, the timeline of every queue
with zoom and search, the memory of every device, sums by kind and scope, and the explanation; with --trace also what was
measured.

With --trace, in place of --what: what was measured below what is predicted, queue by queue, with the critical path of
the measured step marked. Printed too: its totals, the ten dearest ops, op kinds and scopes, the queues' busy times and
the path; without -o, these alone.

Examples:
  dfc view samples/02_train_mlp/mlp.dfg -m cpu-8gpu-nvlink -o page.html
  dfc view samples/02_train_mlp/mlp.dfg --what=graph -o mlp.svg
  dfc view samples/04_graph_file/figure.dfg -m cpu-2gpu --what=figure -o figure.png
  dfc view samples/04_graph_file/figure.dfg -m cpu-2gpu --what=schedule --collapse -o schedule.svg
  dfc compile samples/04_graph_file/figure.dfg -m cpu-2gpu -o figure.plan
  dfc run figure.plan --steps 20 --feed images=fashion-mnist/train/images \
      --feed labels=fashion-mnist/train/labels --trace measured.json
  dfc view figure.plan --trace measured.json -o measured.svg
SVG and PNG are drawn by Graphviz (package graphviz); without -o the DOT text goes to standard output. A picture of more
boxes and arrows than can be read, or that Graphviz does not lay out in seconds, is drawn by scope, equal layers as one
box, and says so. The page has no such limit.)";

/// A plan holds its graph as it was compiled, not as it was written: the picture says so.
std::string compiledGraphDot(const Executable& plan) {
  GraphPicture picture;
  picture.explanation =
      "as compiled into a plan, which does not keep the graph as it was written (draw the .dfg for that): "
      "gradients are written out, chains of elementwise ops fused, unused ops gone\n"
      "copies between devices and replicas of parameters are left out: --what=placed has them";
  picture.graphIs = "compiled graph";
  picture.meaningOfPin = "runs on it";
  picture.devices = dot::deviceNames(plan.machine());
  return graphDot(computationsOf(plan.placed(), plan.machine()), picture);
}

/// Of `graph`, drawn by scope with ever fewer boxes, where all of it is too much.
template <typename... Where>
std::vector<MakeDot> byScope(const std::string& title, const Where&... where) {
  std::vector<MakeDot> coarser;
  for (const size_t boxes : {150, 60, 20}) {
    coarser.push_back([=, &where...](const std::string& reason) {
      return foldedDot(where..., {title, "drawn by scope, equal layers as one box: " + reason, boxes});
    });
  }
  return coarser;
}

Picture schedulePicture(const Executable& plan, bool collapse) {
  const auto draw = [&plan](bool collapsed, const std::string& reason) {
    return scheduleDot(plan.schedule(), plan.placed(), plan.machine(), collapsed, reason);
  };
  Picture picture{draw(collapse, ""), {}};
  if (!collapse) {
    picture.coarser.push_back(
        [draw](const std::string& reason) { return draw(true, "drawn by scope: " + reason); });
  }
  return picture;
}

/// Keeps what its picture is drawn from.
struct Drawn {
  std::shared_ptr<const Executable> plan;
  std::shared_ptr<const Graph> graph;
  Picture picture;
};

Result<Drawn> planPicture(const ViewArguments& arguments, Console& console) {
  const auto plan = planOf(arguments.source, arguments.plan);
  if (!plan) {
    return plan.errors();
  }
  console.warn(plan.warnings());
  Drawn drawn{*plan, nullptr, {}};
  const PlacedGraph& placed = drawn.plan->placed();
  const Machine& machine = drawn.plan->machine();
  if (arguments.what == "schedule") {
    drawn.picture = schedulePicture(*drawn.plan, arguments.collapse);
    return drawn;
  }
  const bool figure = arguments.what == "figure" || (arguments.what == "placed" && arguments.collapse);
  drawn.picture = {
      figure                       ? figureDot(placed, machine)
      : arguments.what == "placed" ? placedDot(placed, machine)
                                   : compiledGraphDot(*drawn.plan),
      byScope(fmt::format("{} on {}", drawn.plan->graph().name(), machine.name), placed, machine)};
  return drawn;
}

Result<Drawn> pictureOf(const ViewArguments& arguments, Console& console) {
  const auto plan = isPlanFile(arguments.source);
  if (!plan) {
    return plan.errors();
  }
  if (arguments.what != "graph" || *plan) {
    return planPicture(arguments, console);
  }
  auto graph = graphOfFile(arguments.source, arguments.plan);
  if (!graph) {
    return graph.errors();
  }
  Drawn drawn{nullptr, std::make_shared<const Graph>(*std::move(graph)), {}};
  drawn.picture = {graphDot(*drawn.graph), byScope(std::string(drawn.graph->name()), *drawn.graph)};
  return drawn;
}

std::string endingOf(const std::string& path) { return std::filesystem::path(path).extension().string(); }

/// Says on stderr why not all of it is drawn, and how to see all.
void warnOf(const BoundedPicture& drawn, const ViewArguments& arguments, Console& console) {
  if (!drawn.notice.empty()) {
    Diagnostic warning = errorWithoutPlace(
        "the picture is drawn by scope: " + drawn.notice,
        "-o FILE.html shows all of it, with zoom and search; --whole writes all of it as .dot");
    warning.severity = Severity::Warning;
    warning.where.file = arguments.output;
    console.warn({warning});
  }
}

/// None, or how the verb ends.
std::optional<Exit> writePicture(const Picture& picture, const ViewArguments& arguments, Console& console) {
  const auto drawn = boundedPicture(picture, endingOf(arguments.output), arguments.begin, arguments.whole);
  if (!drawn) {
    return console.fail(Exit::UserError, drawn.errors());
  }
  warnOf(*drawn, arguments, console);
  if (const Status written = writeFileAtomically(arguments.output, drawn->contents); !written) {
    return console.fail(Exit::MachineFailure, written.errors());
  }
  console.print(fmt::format("wrote {}\n", arguments.output));
  return std::nullopt;
}

/// Neither a page, nor --what or --trace.
Diagnostic withoutPicture(const std::string& output) {
  const std::string named = output.empty() ? "" : fmt::format(" -o {}", output);
  return errorWithoutPlace(
      fmt::format("what should be drawn{}?", output.empty() ? "" : " in " + output),
      fmt::format(
          "say --what and one of: {}, for a picture (.svg, .png or .dot), for example --what=figure{}; "
          "--trace and the trace of a run; or -o FILE.html for one page of all",
          fmt::join(pictures, ", "), named));
}

bool isPage(const ViewArguments& arguments) { return endingOf(arguments.output) == ".html"; }

/// Whether -o names a picture of which the words say no more.
bool needsDefault(const ViewArguments& arguments) {
  return !arguments.output.empty() && !isPage(arguments) && arguments.what.empty() && arguments.trace.empty();
}

/// A graph that nothing is planned for is drawn as it is written, a plan as who computes what.
std::string defaultPicture(const ViewArguments& arguments) {
  const auto isPlan = isPlanFile(arguments.source);
  return (isPlan && *isPlan) || !arguments.plan.machine.empty() || arguments.collapse ? "figure" : "graph";
}

Diagnostics faultsOf(const ViewArguments& arguments) {
  Diagnostics errors;
  if (isPage(arguments)) {
    if (!arguments.what.empty() || arguments.collapse) {
      errors.push_back(errorWithoutPlace("a page shows all of a plan", "leave out --what and --collapse"));
    }
  } else if (arguments.trace.empty() && arguments.what.empty()) {
    errors.push_back(withoutPicture(arguments.output));
  } else if (!arguments.trace.empty() && !arguments.what.empty()) {
    errors.push_back(
        errorWithoutPlace(fmt::format("--trace is a picture of its own, --what={} another", arguments.what),
                          "leave one of them out"));
  } else if (arguments.trace.empty() &&
             std::find(pictures.begin(), pictures.end(), arguments.what) == pictures.end()) {
    errors.push_back(unknownName("picture", arguments.what, pictures));
  }
  if (arguments.step && arguments.trace.empty()) {
    errors.push_back(errorWithoutPlace("--step chooses among the steps of a trace", "add --trace FILE.json"));
  }
  const std::string ending = endingOf(arguments.output);
  if (!arguments.output.empty() && std::find(formats.begin(), formats.end(), ending) == formats.end()) {
    Diagnostic error = unknownName("picture format", ending, formats);
    error.where.file = arguments.output;
    errors.push_back(error);
  }
  if (errors.empty()) {
    OutputFiles files;
    addInputs(arguments.source, arguments.plan, files);
    files.reads(arguments.trace);
    files.writes("-o", arguments.output);
    errors = files.check();
  }
  return errors;
}

Exit viewTrace(const ViewArguments& arguments, Console& console) {
  const auto plan = planOf(arguments.source, arguments.plan);
  if (!plan) {
    return console.fail(Exit::UserError, plan.errors());
  }
  console.warn(plan.warnings());
  const auto comparison = compareWithTrace(**plan, arguments.trace, arguments.step);
  if (!comparison) {
    return console.fail(Exit::UserError, comparison.errors());
  }
  auto object = nlohmann::ordered_json::parse(comparisonJson(*comparison));
  console.print(comparisonText(*comparison));
  if (!arguments.output.empty()) {
    if (const auto failed = writePicture({traceDot(*comparison), {[&](const std::string& reason) {
                                            return traceDot(*comparison, reason);
                                          }}},
                                         arguments, console)) {
      return *failed;
    }
    object["output"] = arguments.output;
  }
  return console.finish(object.dump());
}

Exit viewPicture(const ViewArguments& arguments, Console& console) {
  const auto found = pictureOf(arguments, console);
  if (!found) {
    return console.fail(Exit::UserError, found.errors());
  }
  nlohmann::ordered_json object{{"what", arguments.what}};
  if (arguments.output.empty()) {
    const auto drawn = boundedPicture(found->picture, ".dot", arguments.begin, arguments.whole);
    warnOf(*drawn, arguments, console);
    console.print(drawn->contents);
    object["dot"] = drawn->contents;
  } else {
    if (const auto failed = writePicture(found->picture, arguments, console)) {
      return *failed;
    }
    object["output"] = arguments.output;
  }
  return console.finish(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

bool isLog(const std::string& source) { return source.ends_with(".csv"); }

/// The learning curves of a log that dfc run --log wrote; drawn here, without Graphviz.
Exit viewCurves(const ViewArguments& arguments, Console& console) {
  OutputFiles files;
  files.reads(arguments.source);
  files.writes("-o", arguments.output, {".svg"});
  Diagnostics errors = files.check();
  if (!arguments.what.empty() || !arguments.trace.empty()) {
    errors.push_back(errorWithoutPlace("a log has one picture: its curves", "leave --what and --trace out"));
  }
  const auto curve = readLearningCurve(arguments.source);
  add(errors, curve.errors());
  if (!errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  const std::string svg = curve->svg(std::filesystem::path(arguments.source).stem().string());
  nlohmann::ordered_json object{{"what", "curves"}};
  if (arguments.output.empty()) {
    console.print(svg);
    object["svg"] = svg;
    return console.finish(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  if (const Status written = writeFileAtomically(arguments.output, svg); !written) {
    return console.fail(Exit::MachineFailure, written.errors());
  }
  console.print(fmt::format("wrote {}\n", arguments.output));
  object["output"] = arguments.output;
  return console.finish(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Exit viewPage(const ViewArguments& arguments, Console& console) {
  const auto page = pageOf(arguments.source, arguments.plan, arguments.trace, arguments.step);
  if (!page) {
    return console.fail(Exit::UserError, page.errors());
  }
  console.warn(page.warnings());
  if (const Status written = writeFileAtomically(arguments.output, *page); !written) {
    return console.fail(Exit::MachineFailure, written.errors());
  }
  console.print(fmt::format("wrote {}\n", arguments.output));
  return console.finish(nlohmann::ordered_json{{"what", "page"}, {"output", arguments.output}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::vector<std::string> picturesBut(const std::string& drawn) {
  std::vector<std::string> others(pictures.begin(), pictures.end());
  std::erase(others, drawn);
  return others;
}

Exit viewVerb(ViewArguments arguments, Console& console) {
  if (isLog(arguments.source)) {
    return viewCurves(arguments, console);
  }
  const bool byDefault = needsDefault(arguments);
  if (byDefault) {
    arguments.what = defaultPicture(arguments);
  }
  if (const Diagnostics errors = faultsOf(arguments); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  if (isPage(arguments)) {
    return viewPage(arguments, console);
  }
  if (byDefault) {
    console.note(fmt::format("draws --what={}; other pictures: {}; -o FILE.html has all", arguments.what,
                             fmt::join(picturesBut(arguments.what), ", ")));
  }
  return arguments.trace.empty() ? viewPicture(arguments, console) : viewTrace(arguments, console);
}

} // namespace

void addView(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<ViewArguments>();
  CLI::App* verb =
      program.add_subcommand("view", "Draw a graph, its placement, its schedule, a run or learning curves");
  verb->add_option("GRAPH|PLAN|LOG", arguments->source, "graph file (.dfg), ONNX model, plan, or log (.csv)")
      ->required();
  verb->add_option("--what", arguments->what, fmt::format("one of: {}", fmt::join(pictures, ", ")))
      ->type_name("PICTURE");
  verb->add_option("--trace", arguments->trace,
                   "what dfc run --trace wrote of a run of this plan: measured beside predicted")
      ->type_name("FILE.json");
  verb->add_option("--step", arguments->step,
                   "with --trace: which step of it, from 0 (default: the one of median length)")
      ->type_name("N")
      ->check(wholeNumber(0, std::numeric_limits<uint32_t>::max()));
  verb->add_option("-o,--output", arguments->output, "write it here: .html, .dot, .svg or .png")
      ->type_name("FILE");
  verb->add_flag("--collapse", arguments->collapse, "one box for each scope (placed, schedule)");
  verb->add_flag("--whole", arguments->whole, "everything, however large, where DOT is written");
  addPlanOptions(*verb, arguments->plan);
  verb->footer(viewFooter);
  verbs[verb] = [arguments](Console& console) { return viewVerb(*arguments, console); };
}

} // namespace dfc::tool
