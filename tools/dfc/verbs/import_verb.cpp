// `dfc import`: an ONNX model in, a graph file out, with the weights beside it.
#include "ir/author/onnx/import.h"
#include "ir/author/text/print.h"
#include "ir/base/atomic_file.h"
#include "ir/graph/graph.h"
#include "ir/graph/rewriter.h"
#include "runtime/files/safetensors.h"
#include "tools/dfc/io/foreign_source.h"
#include "tools/dfc/io/output_files.h"
#include "tools/dfc/onnx_source.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace dfc::tool {
namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::string model, output;
  std::vector<std::string> dims;
};

constexpr const char* importFooter =
    R"(The weights go to FILE.safetensors beside the graph file, whose parameters start from them; dfc run finds them there.
dfc run, compile, explain, view and simulate take the model itself as well.

Examples:
  dfc import samples/04_graph_file/classifier.onnx -o classifier.dfg --dim batch=8
  dfc import samples/04_graph_file/classifier.onnx -o one.dfg --dim images.0=1 --json)";

/// The graph with its parameters started from `file` in place of the model, and their first values.
struct Weights {
  NamedLiterals values;
  Diagnostics errors;
};

Graph startedFrom(const std::string& file, const Graph& graph, onnx::WeightFile& model, Weights& weights) {
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    const auto* parameter = graph[op].getIf<ops::Parameter>();
    if (parameter == nullptr) {
      rewriter.copy(op);
      continue;
    }
    const std::string name = parameter->file.substr(parameter->file.rfind('#') + 1);
    auto value = model.read(name);
    if (value) {
      weights.values.emplace(name, *std::move(value));
    } else {
      weights.errors.insert(weights.errors.end(), value.errors().begin(), value.errors().end());
    }
    ops::Parameter started = *parameter;
    started.file = file + "#" + name;
    const OpId made = rewriter.append(std::move(started), {}, op);
    rewriter.replace(graph[op].firstResult, rewriter.builder().result(made));
  }
  return std::move(rewriter).finish();
}

Exit importVerb(const ImportArguments& arguments, Console& console) {
  const std::string weightPath = fs::path(arguments.output).replace_extension(".safetensors").string();
  OutputFiles files;
  files.reads(arguments.model);
  files.writes("-o", arguments.output, {".dfg"});
  files.writes("-o", weightPath);
  if (const Diagnostics errors = files.check(); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  if (arguments.model.ends_with(".dfg")) {
    return console.fail(Exit::UserError, {Diagnostic{Severity::Error,
                                                     {arguments.model},
                                                     "is a graph file already",
                                                     "use it as it is, with dfc run for example; dfc export "
                                                     "makes an ONNX model of it"}});
  }
  if (auto foreign = foreignSource(arguments.model)) {
    return console.fail(Exit::UserError, {*std::move(foreign)});
  }
  const auto graph = readOnnx(arguments.model, arguments.dims);
  if (!graph) {
    return console.fail(Exit::UserError, graph.errors());
  }
  auto model = onnx::WeightFile::open(arguments.model);
  if (!model) {
    return console.fail(Exit::UserError, model.errors());
  }
  Weights weights;
  const Graph started = startedFrom(fs::path(weightPath).filename().string(), *graph, *model, weights);
  if (!weights.errors.empty()) {
    return console.fail(Exit::UserError, weights.errors);
  }
  Status written = weights.values.empty() ? success() : writeSafetensors(weightPath, weights.values);
  written = written ? writeFileAtomically(arguments.output, printGraph(started)) : written;
  if (!written) {
    return console.fail(Exit::MachineFailure, written.errors());
  }
  nlohmann::ordered_json object{
      {"output", arguments.output}, {"ops", started.opCount()}, {"parameters", weights.values.size()}};
  console.print(
      fmt::format("wrote {}: {} of the graph\n", arguments.output, counted(started.opCount(), "op")));
  if (!weights.values.empty()) {
    object["weights"] = weightPath;
    console.print(fmt::format("wrote {}: {} parameters\n", weightPath, weights.values.size()));
  }
  return console.finish(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace

void addImport(CLI::App& program, Verbs& verbs) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* verb = program.add_subcommand("import", "Turn an ONNX model into a graph file and its weights");
  verb->add_option("MODEL", arguments->model, "ONNX model (.onnx)")->required();
  verb->add_option("-o,--output", arguments->output, "write the graph here")
      ->type_name("FILE.dfg")
      ->required();
  verb->add_option("--dim", arguments->dims, "length of a free dimension, by its name or INPUT.AXIS")
      ->type_name("NAME=LENGTH")
      ->allow_extra_args(false);
  verb->footer(importFooter);
  verbs[verb] = [arguments](Console& console) { return importVerb(*arguments, console); };
}

} // namespace dfc::tool
