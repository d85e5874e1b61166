#include "ir/author/onnx/import.h"

#include "ir/author/onnx/inputs.h"
#include "ir/graph/graph.h"
#include "ir/graph/rewriter.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::onnx {
namespace {

constexpr int64_t oldestOpset = 7, newestOpset = 23;

/// The ops that fetches need, and the inputs, which callers feed.
Graph withoutDeadOps(const Graph& graph) {
  std::vector<bool> live(graph.opCount());
  for (const Fetch& fetch : graph.fetches()) {
    live[graph[fetch.value].producer.index()] = true;
  }
  for (auto index = static_cast<uint32_t>(live.size()); index-- > 0;) {
    live[index] = live[index] || graph[OpId(index)].kind() == OpKind::Input;
    for (const ValueId operand : graph[OpId(index)].operands) {
      live[graph[operand].producer.index()] = live[graph[operand].producer.index()] || live[index];
    }
  }
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    if (live[op.index()]) {
      rewriter.copy(op);
    }
  }
  return std::move(rewriter).finish();
}

void fetchOutputs(OnnxScope& scope, const OnnxGraph& graph) {
  std::vector<Problem>& problems = scope.state().problems;
  if (graph.outputs.empty()) {
    problems.push_back({Problem::Kind::Mistake, "the graph has no output"});
  }
  for (const OnnxPort& output : graph.outputs) {
    try {
      if (!output.other.empty()) {
        throw Unsupported(fmt::format("output '{}' is {}", output.name, output.other));
      }
      scope.builder().fetch(output.name, scope.tensor(output.name));
    } catch (const Poisoned&) { // said already
    } catch (const Unsupported& reason) {
      problems.push_back({Problem::Kind::Unsupported, reason.what()});
    } catch (const BadFile& mistake) {
      problems.push_back(
          {Problem::Kind::Mistake, fmt::format("output '{}': {}", output.name, mistake.what())});
    }
  }
}

void buildGraph(OnnxScope& scope, const OnnxModel& model, const ImportSettings& settings) {
  ImportState& state = scope.state();
  const auto at = scope.builder().at({model.path, 0});
  try {
    defineInitializers(scope, model.graph, settings.weightFile);
    Inputs inputs(settings, state.problems);
    for (const OnnxPort& port : model.graph.inputs) {
      inputs.define(scope, port);
    }
    inputs.finish();
  } catch (const Unsupported& reason) {
    state.problems.push_back({Problem::Kind::Unsupported, reason.what()});
    return;
  } catch (const BadFile& mistake) {
    state.problems.push_back({Problem::Kind::Mistake, mistake.what()});
    return;
  }
  scope.run(model.graph.nodes, model.opset);
  fetchOutputs(scope, model.graph);
}

/// What the DSL has refused, at the nodes whose ops it was asked for.
void addRefusals(const OnnxModel& model, const Diagnostics& errors, std::vector<Problem>& problems) {
  for (const Diagnostic& error : errors) {
    Problem problem{Problem::Kind::Mistake, error.message, error.hint};
    if (error.where.line > 0 && error.where.line <= model.graph.nodes.size()) {
      const OnnxNode& node = model.graph.nodes[error.where.line - 1];
      problem.op = node.op;
      problem.node = node.name;
      problem.ordinal = error.where.line;
    }
    problems.push_back(std::move(problem));
  }
}

} // namespace

Imported importModel(const OnnxModel& model, const ImportSettings& settings) {
  Builder builder(model.graph.name.empty() || model.graph.name.size() > 1000 ? "model" : model.graph.name);
  ImportState state(builder, settings.evaluate, model);
  OnnxScope scope(state);
  buildGraph(scope, model, settings);
  Result<Graph> graph = std::move(builder).finish();
  addRefusals(model, graph.errors(), state.problems);
  std::stable_sort(state.problems.begin(), state.problems.end(),
                   [](const Problem& a, const Problem& b) { return a.ordinal < b.ordinal; });
  if (!state.problems.empty() || !graph) {
    return {std::nullopt, std::move(state.problems)};
  }
  return {withoutDeadOps(*graph), {}};
}

Result<Graph> importFile(const std::string& path, const ImportSettings& settings) {
  auto file = MappedFile::open(path);
  if (!file) {
    return file.errors();
  }
  OnnxModel model;
  try {
    model = parseModel(*file, path);
  } catch (const BadFile& fault) {
    return Diagnostic{Severity::Error,
                      {path},
                      fmt::format("is no ONNX model: {}", fault.what()),
                      "the file is damaged or of another format: export or copy it again"};
  }
  if (model.opset < oldestOpset || model.opset > newestOpset) {
    return Diagnostic{
        Severity::Error,
        {path},
        fmt::format("is of opset {}; dfc reads opsets {} to {}", model.opset, oldestOpset, newestOpset),
        "export it with another opset_version, or convert it with onnx.version_converter"};
  }
  Imported imported = importModel(model, settings);
  if (!imported.graph) {
    return diagnosticsOf(imported.problems, path);
  }
  return *std::move(imported.graph);
}

} // namespace dfc::onnx
