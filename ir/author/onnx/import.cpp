#include "ir/author/onnx/import.h"

#include "ir/graph/graph.h"
#include "ir/graph/rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dfc::onnx {
namespace {

constexpr int64_t oldestOpset = 7, newestOpset = 23;

/// Inputs with every free dimension bound.
class Inputs {
 public:
  Inputs(const ImportSettings& settings, std::vector<Problem>& problems)
      : settings_(settings), problems_(problems) {}

  /// Up to version 3 of the format initialisers are inputs, too.
  void define(OnnxScope& scope, const OnnxPort& port) {
    if (std::find(names_.begin(), names_.end(), port.name) != names_.end()) {
      throw BadFile(fmt::format("a second input named '{}'", port.name));
    }
    names_.push_back(port.name);
    if (scope.defines(port.name)) {
      return;
    }
    if (const auto sample = settings_.samples.find(port.name); sample != settings_.samples.end()) {
      const Tensor input = scope.builder().input(port.name, sample->second.type());
      scope.state().known.give(input, [value = sample->second] { return value; });
      defineAs(scope, port, input);
    } else if (const auto value = settings_.values.find(port.name); value != settings_.values.end()) {
      defineAs(scope, port, scope.builder().constant(value->second));
    } else if (const std::optional<TensorType> type = typeOf(port)) {
      defineAs(scope, port, scope.builder().input(port.name, *type));
    } else {
      scope.poison(port.name);
    }
  }

  /// What no input has asked for, and what nothing was bound to.
  void finish() {
    if (!free_.empty()) {
      std::string list, hint;
      for (const auto& [name, users] : free_) {
        list += fmt::format("{}{} (of {})", list.empty() ? "" : ", ", name, fmt::join(users, ", "));
        hint += fmt::format(" --dim {}=8", name);
      }
      problems_.push_back({Problem::Kind::Mistake, fmt::format("free dimensions: {}", list),
                           fmt::format("a plan is made for one length of each; bind them:{}", hint)});
    }
    for (const auto& [name, length] : settings_.dims) {
      if (asked_.count(name) == 0) {
        const auto near = nearestName(name, {known_.begin(), known_.end()});
        problems_.push_back({Problem::Kind::Mistake, fmt::format("there is no free dimension '{}'", name),
                             near             ? fmt::format("did you mean '{}'?", *near)
                             : known_.empty() ? "all dimensions of its inputs are given"
                                              : fmt::format("it has: {}", fmt::join(known_, ", "))});
      } else if (length < 0) {
        problems_.push_back(
            {Problem::Kind::Mistake, fmt::format("dimension '{}' cannot be {}", name, length)});
      }
    }
    for (const auto& [name, value] : settings_.values) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
        const auto near = nearestName(name, names_);
        problems_.push_back({Problem::Kind::Mistake, fmt::format("there is no input '{}'", name),
                             near ? fmt::format("did you mean '{}'?", *near) : ""});
      }
    }
  }

 private:
  void defineAs(OnnxScope& scope, const OnnxPort& port, Tensor tensor) {
    if (isWidened(port.element) && tensor.valid()) {
      scope.state().widened[tensor.value()] = port.element;
    }
    scope.define(port.name, tensor);
  }

  int64_t lengthOf(const OnnxPort& port, size_t axis) {
    const OnnxDim& dim = (*port.dims)[axis];
    const std::string place = fmt::format("{}.{}", port.name, axis);
    if (dim.length >= 0 && dim.name.empty()) {
      return dim.length;
    }
    const std::string& name = dim.name.empty() ? place : dim.name;
    known_.insert(name);
    for (const std::string& key : {place, name}) { // the place goes before the name that several have
      if (const auto bound = settings_.dims.find(key); bound != settings_.dims.end()) {
        asked_.insert(key);
        return std::max<int64_t>(bound->second, 0);
      }
    }
    free_[name].push_back(fmt::format("{} axis {}", port.name, axis));
    return -1;
  }

  std::optional<TensorType> typeOf(const OnnxPort& port) {
    const auto unsupported = [&](const std::string& what) {
      problems_.push_back({Problem::Kind::Unsupported, what});
      return std::nullopt;
    };
    if (!port.other.empty()) {
      return unsupported(fmt::format("input '{}' is {}", port.name, port.other));
    }
    if (!port.dims) {
      return unsupported(fmt::format("input '{}' does not say how many dimensions it has", port.name));
    }
    std::vector<int64_t> dims;
    for (size_t axis = 0; axis < port.dims->size() && axis <= Shape::maxRank; ++axis) {
      dims.push_back(lengthOf(port, axis));
    }
    if (std::find(dims.begin(), dims.end(), -1) != dims.end()) {
      return std::nullopt;
    }
    if (dims.size() > Shape::maxRank || !Shape::valid(dims)) {
      return unsupported(fmt::format("input '{}' of shape [{}]", port.name, fmt::join(dims, ", ")));
    }
    try {
      return TensorType{elementOfOnnx(port.element), Shape(std::span<const int64_t>(dims))};
    } catch (const Unsupported& reason) {
      return unsupported(fmt::format("input '{}': {}", port.name, reason.what()));
    }
  }

  const ImportSettings& settings_;
  std::vector<Problem>& problems_;
  std::map<std::string, std::vector<std::string>> free_; ///< and the inputs that have it
  std::set<std::string> asked_, known_;
  std::vector<std::string> names_;
};

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

/// "'conv1'", or "node 7" for one without a name.
std::string nodeText(const Problem& problem) {
  return problem.node.empty() ? fmt::format("node {}", problem.ordinal) : fmt::format("'{}'", problem.node);
}

Diagnostic diagnosticOf(const Problem& problem, const std::string& path) {
  const bool ours = problem.kind == Problem::Kind::Unsupported;
  std::string message = ours ? "dfc cannot express " + problem.what : problem.what;
  if (!problem.op.empty()) {
    message = fmt::format("{} {}: {}", problem.op, nodeText(problem), message);
  }
  return {Severity::Error, {path, problem.ordinal}, std::move(message), problem.hint};
}

constexpr size_t mostNodesShown = 5;
constexpr size_t mostProblemsShown = 100;

Diagnostic missingOps(const std::map<std::string, std::vector<std::string>>& missing,
                      const std::string& path) {
  std::string list;
  for (const auto& [op, nodes] : missing) {
    const size_t shown = std::min(nodes.size(), mostNodesShown);
    list += fmt::format("{} {} ({}{})", list.empty() ? "" : ",", op,
                        fmt::join(nodes.begin(), nodes.begin() + static_cast<int64_t>(shown), ", "),
                        shown < nodes.size() ? fmt::format(" and {} more", nodes.size() - shown) : "");
  }
  return {Severity::Error,
          {path},
          fmt::format("dfc lacks {} of the ops of this model:{}", missing.size(), list),
          "export it without them: another opset or exporter writes them as ops that dfc has"};
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

Diagnostics diagnosticsOf(const std::vector<Problem>& problems, const std::string& path) {
  Diagnostics all;
  std::map<std::string, std::vector<std::string>> missing;
  for (const Problem& problem : problems) {
    if (problem.kind == Problem::Kind::MissingOp) {
      missing[problem.op].push_back(nodeText(problem));
    }
  }
  if (!missing.empty()) {
    all.push_back(missingOps(missing, path));
  }
  for (const Problem& problem : problems) {
    if (problem.kind != Problem::Kind::MissingOp && all.size() < mostProblemsShown) {
      all.push_back(diagnosticOf(problem, path));
    }
  }
  return all;
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
