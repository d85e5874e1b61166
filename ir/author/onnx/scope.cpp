// The walk over nodes. A node that goes wrong is one problem, and what reads its results is passed over.
#include "ir/author/onnx/scope.h"

#include "ir/author/onnx/node_call.h"
#include "ir/author/onnx/widened.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace dfc::onnx {
namespace {

constexpr int deepestInlining = 64;       // of functions and bodies within one another
constexpr int64_t mostSpent = 20'000'000; // ops of unrolled loops and elements of tables made while importing
constexpr int64_t costOfOp = 20;          // an op takes as much memory as a row of a table that long
constexpr size_t longestName = 1000;
constexpr int64_t mostFolded = 4096; // elements of a constant that is computed when a model is imported
constexpr double foldingWork = 1e6;

// "/encoder/layer.0/MatMul" is in the scope "encoder/layer.0".
std::string scopeOf(const std::string& name) {
  const size_t end = name.rfind('/');
  const size_t begin = !name.empty() && name.front() == '/' ? 1 : 0;
  return end == std::string::npos || end <= begin || name.size() > longestName
             ? ""
             : name.substr(begin, end - begin);
}

const OnnxFunction* functionFor(const OnnxModel& model, const OnnxNode& node) {
  for (const OnnxFunction& function : model.functions) {
    if (function.name == node.op && function.domain == node.domain && function.overload == node.overload) {
      return &function;
    }
  }
  return nullptr;
}

using Attributes = std::map<std::string, OnnxAttribute>;
std::vector<OnnxNode> resolved(const std::vector<OnnxNode>& nodes, const Attributes& given);

// The attribute that stands in a function for one of its caller; none where the caller has none.
std::optional<OnnxAttribute> resolved(const OnnxAttribute& attribute, const Attributes& given) {
  if (!attribute.reference.empty()) {
    const auto found = given.find(attribute.reference);
    return found == given.end() ? std::nullopt : std::optional(found->second);
  }
  OnnxAttribute made = attribute;
  if (attribute.graph) {
    auto graph = std::make_shared<OnnxGraph>(*attribute.graph);
    graph->nodes = resolved(graph->nodes, given);
    made.graph = std::move(graph);
  }
  return made;
}

std::vector<OnnxNode> resolved(const std::vector<OnnxNode>& nodes, const Attributes& given) {
  std::vector<OnnxNode> made = nodes;
  for (OnnxNode& node : made) {
    Attributes attributes;
    for (const auto& [name, attribute] : node.attributes) {
      if (auto one = resolved(attribute, given)) {
        attributes.emplace(name, *std::move(one));
      }
    }
    node.attributes = std::move(attributes);
  }
  return made;
}

/// A scope that can be left out.
struct Within {
  Within(Builder& builder, const std::string& path) : guard(builder.exactly(path, "")) {}
  Builder::Guard guard;
};

/// A level of inlining, as long as it lives.
class Deeper {
 public:
  explicit Deeper(ImportState& state) : state_(state) {
    if (++state_.depth > deepestInlining) {
      --state_.depth;
      throw Unsupported(fmt::format("functions or bodies within more than {} others", deepestInlining));
    }
  }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --state_.depth; }

 private:
  ImportState& state_;
};

bool isSource(OpKind kind) {
  return kind == OpKind::Input || kind == OpKind::Parameter || kind == OpKind::Constant;
}

} // namespace

void OnnxScope::define(const std::string& name, Tensor tensor) {
  if (!values_.emplace(name, Value{tensor, {}, !tensor.valid()}).second) {
    throw BadFile(fmt::format("a second value named '{}'", name));
  }
}

void OnnxScope::defer(const std::string& name, std::function<Tensor()> make) {
  if (!values_.emplace(name, Value{Tensor(), std::move(make), false}).second) {
    throw BadFile(fmt::format("a second value named '{}'", name));
  }
}

Tensor OnnxScope::tensor(const std::string& name) {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    if (outer_ == nullptr) {
      throw BadFile(fmt::format("nothing before it is called '{}'", name));
    }
    return const_cast<OnnxScope*>(outer_)->tensor(name); // which makes what is not made yet
  }
  Value& value = found->second;
  if (value.make) {
    value.poisoned = true; // where making it throws, nobody tries again
    value.tensor = std::exchange(value.make, {})();
    value.poisoned = !value.tensor.valid();
  }
  if (value.poisoned) {
    throw Poisoned{};
  }
  return value.tensor;
}

void OnnxScope::spend(int64_t count) {
  if (count < 0 || count > mostSpent - state_.spent) {
    throw Unsupported(
        "loops, functions, recurrent layers or tables of indices that are too large once they are unrolled");
  }
  state_.spent += count;
}

void OnnxScope::report(const OnnxNode& node, Problem::Kind kind, const std::string& what) {
  state_.problems.push_back({kind, what, "", qualifiedName(node), node.name, state_.ordinal});
  for (const std::string& output : node.outputs) {
    poison(output);
  }
}

void OnnxScope::run(const std::vector<OnnxNode>& nodes, int64_t opset) {
  for (const OnnxNode& node : nodes) {
    if (state_.depth == 0) {
      ++state_.ordinal;
    }
    try {
      runNode(node, opset);
    } catch (const Poisoned&) {
      for (const std::string& output : node.outputs) {
        poison(output);
      }
    } catch (const MissingOp& missing) {
      report(node, Problem::Kind::MissingOp, missing.what());
    } catch (const Unsupported& reason) {
      report(node, Problem::Kind::Unsupported, reason.what());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& mistake) {
      report(node, Problem::Kind::Mistake, mistake.what());
    }
  }
}

void OnnxScope::runNode(const OnnxNode& node, int64_t opset) {
  spend(costOfOp);
  const auto place = builder().at({state_.model.path, state_.ordinal});
  std::optional<Within> within; // the scope of the model's node holds for what it inlines
  if (state_.depth == 0) {
    within.emplace(builder(), scopeOf(node.name));
  }
  const size_t opsBefore = builder().graph().soFar().opCount();
  if (const OnnxFunction* function = functionFor(state_.model, node)) {
    defineResults(node, call(*function, node), opsBefore);
    return;
  }
  if (!node.domain.empty() && !hasOnnxMapping(qualifiedName(node))) {
    throw MissingOp("no op for " + qualifiedName(node));
  }
  NodeResults results = mapNode(*this, node, opset);
  passWidenedOn(*this, node, results);
  spend(costOfOp * static_cast<int64_t>(builder().graph().soFar().opCount() - opsBefore));
  defineResults(node, results, opsBefore);
}

void OnnxScope::defineResults(const OnnxNode& node, const std::vector<Tensor>& results, size_t opsBefore) {
  for (size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
    const std::string& name = node.outputs[i];
    Tensor result = results[i];
    if (name.empty()) {
      continue;
    }
    if (result.valid()) {
      const Graph& graph = builder().graph().soFar();
      const OpId producer = graph[result.value()].producer;
      if (producer.index() >= opsBefore && result.shape().elements() <= mostFolded &&
          graph[producer].kind() != OpKind::Constant) {
        if (const auto folded = state_.known.ofConstant(result, foldingWork)) {
          const auto widened = state_.widened.find(result.value());
          const int64_t element = widened == state_.widened.end() ? 0 : widened->second;
          result = builder().constant(*folded);
          if (element != 0) {
            state_.widened[result.value()] = element;
          }
        }
      }
      const OpId maker = builder().graph().soFar()[result.value()].producer;
      if (maker.index() >= opsBefore && !isSource(builder().graph().soFar()[maker].kind()) &&
          state_.depth == 0 && name.size() <= longestName) {
        result.named(name);
      }
    }
    define(name, result);
  }
}

std::vector<Tensor> OnnxScope::inlined(const OnnxGraph& body, const std::vector<Tensor>& inputs,
                                       int64_t opset) {
  const Deeper deeper(state_);
  OnnxScope inner(state_, this);
  if (inputs.size() != body.inputs.size()) {
    throw BadFile(fmt::format("a body of {} inputs that gets {}", body.inputs.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    inner.define(body.inputs[i].name, inputs[i]);
  }
  defineInitializers(inner, body, "");
  inner.run(body.nodes, opset);
  std::vector<Tensor> outputs;
  for (const OnnxPort& output : body.outputs) {
    outputs.push_back(inner.tensor(output.name));
  }
  return outputs;
}

std::vector<Tensor> OnnxScope::call(const OnnxFunction& function, const OnnxNode& node) {
  const Deeper deeper(state_);
  OnnxScope inner(state_);
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size()) {
    throw BadFile("more operands or results than the function has");
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].empty()) {
      inner.define(function.inputs[i], tensor(node.inputs[i]));
    }
  }
  Attributes attributes = node.attributes;
  attributes.insert(function.defaults.begin(), function.defaults.end()); // those that are not given
  const auto own = function.opsets.find("");
  spend(costOfOp * static_cast<int64_t>(function.nodes.size()));
  std::vector<OnnxNode> nodes = resolved(function.nodes, attributes);
  for (OnnxNode& inside : nodes) { // an operand that the caller leaves out is left out inside, too
    for (std::string& name : inside.inputs) {
      const auto input = std::find(function.inputs.begin(), function.inputs.end(), name);
      if (input != function.inputs.end() && !inner.defines(name)) {
        name.clear();
      }
    }
  }
  inner.run(nodes, own == function.opsets.end() ? state_.model.opset : own->second);
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    outputs.push_back(inner.tensor(function.outputs[i]));
  }
  return outputs;
}

} // namespace dfc::onnx
