// `dfc export`: a graph and its weights in, an ONNX model out.
#include "ir/author/text/units.h"
#include "ir/graph/graph.h"
#include "runtime/files/safetensors.h"
#include "runtime/weights/rename_rules.h"
#include "tools/dfc/io/output_files.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/verbs.h"
#include "tools/library/onnx.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace dfc::tool {
namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  std::string graph, output, state, rename;
  bool partial = false;
  PlanOptions plan;
};

constexpr const char* exportFooter =
    R"(The model is of opset 20; weights of more than 64 MiB go to MODEL.onnx.data beside it. Without --state parameters start
as the graph says. A parameter that the graph assigns is an input, with its value as default, and its next value an output
NAME.next: ONNX has no state.

Examples:
  dfc export samples/02_train_mlp/mlp_eval.dfg -o mlp.onnx
  dfc export samples/04_graph_file/classifier.onnx --dim batch=8 -o eight.onnx --json)";

constexpr size_t mostNamesShown = 5;

/// The first ones.
std::string namesShown(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<int64_t>(std::min(names.size(), mostNamesShown));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), end == names.end() ? "" : ", …");
}

/// Of the file's tensors those of parameters; errors unless all fit, or --partial.
Result<NamedLiterals> stateOf(const ExportArguments& arguments, const Graph& graph) {
  auto tensors = readSafetensors(arguments.state);
  if (tensors && !arguments.rename.empty()) {
    const auto rules = RenameRules::read(arguments.rename);
    if (!rules) {
      return rules.errors();
    }
    tensors = rules->apply(*tensors, arguments.state);
  }
  if (!tensors) {
    return tensors.errors();
  }
  NamedLiterals state;
  std::vector<std::string> missing;
  for (const NamedType& parameter : graph.parameters()) {
    const auto found = tensors->find(parameter.name);
    if (found == tensors->end()) {
      missing.push_back(parameter.name);
    } else {
      state.emplace(parameter.name, found->second);
    }
  }
  std::vector<std::string> others;
  for (const auto& [name, value] : *tensors) {
    if (state.count(name) == 0) {
      others.push_back(name);
    }
  }
  if (arguments.partial ? !state.empty() : missing.empty() && others.empty()) {
    return state;
  }
  std::string message = fmt::format("has tensors for {} of {} of the graph", state.size(),
                                    counted(graph.parameters().size(), "parameter"));
  if (!missing.empty()) {
    message += fmt::format("; it lacks {}", namesShown(missing));
  }
  if (!others.empty()) {
    message += fmt::format("; no parameters of the graph are {}", namesShown(others));
  }
  return Diagnostic{Severity::Error,
                    {arguments.state},
                    std::move(message),
                    arguments.partial ? "give rules (--rename): PATTERN -> NAME"
                                      : "--partial takes what fits, --rename RULES gives other names"};
}

Exit exportVerb(const ExportArguments& arguments, Console& console) {
  if (arguments.state.empty() && (arguments.partial || !arguments.rename.empty())) {
    return console.fail(Exit::UserError,
                        {errorWithoutPlace("--partial and --rename speak of the tensors of a state",
                                           "add --state FILE.safetensors")});
  }
  const std::string dataPath = arguments.output + ".data";
  OutputFiles files;
  files.reads(arguments.graph);
  files.reads(arguments.state);
  files.reads(arguments.rename);
  files.writes("-o", arguments.output, {".onnx"});
  files.writes("-o", dataPath);
  if (const Diagnostics errors = files.check(); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  const auto graph = graphOfFile(arguments.graph, arguments.plan);
  if (!graph) {
    return console.fail(Exit::UserError, graph.errors());
  }
  OnnxExportOptions options;
  options.dataFolder = fs::path(arguments.graph).parent_path().string();
  if (!arguments.state.empty()) {
    auto state = stateOf(arguments, *graph);
    if (!state) {
      return console.fail(Exit::UserError, state.errors());
    }
    options.state = *std::move(state);
  }
  if (const Status written = exportOnnx(*graph, arguments.output, options); !written) {
    return console.fail(Exit::UserError, written.errors());
  }
  const size_t parameters = graph->parameters().size();
  console.print(fmt::format("wrote {}: {} parameters\n", arguments.output, parameters));
  return console.finish(nlohmann::ordered_json{{"output", arguments.output}, {"parameters", parameters}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace

void addExport(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* verb = program.add_subcommand("export", "Write a graph and its weights as an ONNX model");
  verb->add_option("GRAPH", arguments->graph, "graph file (.dfg) or ONNX model")->required();
  verb->add_option("-o,--output", arguments->output, "write the model here")
      ->type_name("FILE.onnx")
      ->required();
  verb->add_option("--state", arguments->state, "take these parameters")->type_name("FILE.safetensors");
  verb->add_flag("--partial", arguments->partial,
                 "take what fits of --state; the rest starts as the graph says");
  verb->add_option("--rename", arguments->rename, "rules for the names in --state: PATTERN -> NAME")
      ->type_name("RULES");
  verb->add_option("--dim", arguments->plan.dims,
                   "length of a free dimension of an ONNX model, by its name or INPUT.AXIS")
      ->type_name("NAME=LENGTH")
      ->allow_extra_args(false);
  verb->footer(exportFooter);
  verbs[verb] = [arguments](Console& console) { return exportVerb(*arguments, console); };
}

} // namespace dfc::tool
