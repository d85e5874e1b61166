#include "ir/author/onnx/export/export_call.h"

#include "ir/author/decompositions.h"
#include "ir/graph/formula/formulas.h"

#include <fmt/format.h>

#include <set>

namespace dfc::onnx {
namespace {

std::vector<Tensor> operandTensors(Builder& builder, const ExportCall& call) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < call.operands(); ++i) {
    tensors.push_back(builder.input(fmt::format("operand{}", i), call.type(i)));
  }
  return tensors;
}

/// The ops that some values need, by index.
std::vector<bool> liveOps(const Graph& graph, const std::vector<ValueId>& wanted) {
  std::vector<bool> live(graph.opCount());
  for (const ValueId value : wanted) {
    live[graph[value].producer.index()] = true;
  }
  for (auto index = static_cast<uint32_t>(live.size()); index-- > 0;) {
    for (const ValueId operand : graph[OpId(index)].operands) {
      live[graph[operand].producer.index()] = live[graph[operand].producer.index()] || live[index];
    }
  }
  return live;
}

/// Ops that ONNX has for f32 and not for bf16 in the opset that is written.
bool lacksBfloat(const std::string& op) {
  static const std::set<std::string> names = {"AveragePool", "Conv",    "ConvTranspose", "Cos",
                                              "HardSwish",   "MaxPool", "Mish",          "Round",
                                              "Selu",        "Sin",     "Softplus",      "TopK"};
  return names.count(op) != 0;
}

} // namespace

std::string ExportCall::node(const std::string& op, const Names& inputs, const Attributes& attributes) {
  return nodeOf(1, op, inputs, attributes)[0];
}

Names ExportCall::nodeOf(size_t results, const std::string& op, const Names& inputs,
                         const Attributes& attributes) {
  if (operands() > 0 && type(0).element == ElementType::BF16 && lacksBfloat(op)) {
    return inFloat(results, op, inputs, attributes);
  }
  return plainNode(results, op, inputs, attributes);
}

// In f32, whose first result is rounded. TopK counts by its second operand and gives indices.
Names ExportCall::inFloat(size_t results, const std::string& op, Names inputs, const Attributes& attributes) {
  for (size_t i = 0; i < (op == "TopK" ? 1 : inputs.size()); ++i) {
    inputs[i] = cast(inputs[i], ElementType::F32);
  }
  Names made = plainNode(results, op, inputs, attributes);
  made[0] = cast(made[0], ElementType::BF16);
  return made;
}

Names ExportCall::plainNode(size_t results, const std::string& op, const Names& inputs,
                            const Attributes& attributes) {
  OnnxNode node{op, inputs, {}, attributes};
  node.name = writer_.unique(fmt::format("{}.{}", stem_, op));
  for (size_t i = 0; i < results; ++i) {
    node.outputs.push_back(writer_.unique(node.name + ".result"));
  }
  Names outputs = node.outputs;
  writer_.node(std::move(node));
  return outputs;
}

std::string ExportCall::list(const Dims& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return constant(Literal(shape, std::span<const int64_t>(values.data(), values.size())));
}

std::string ExportCall::scalar(ElementType type, double value) {
  return constant(filledLiteral({type, {}}, value));
}

std::string ExportCall::cast(const std::string& a, ElementType to) {
  return node("Cast", {a}, {{"to", attributeOf(onnxElement(to))}});
}

std::string ExportCall::reshaped(const std::string& a, const Dims& dims) {
  return node("Reshape", {a, list(dims)}, {{"allowzero", attributeOf(int64_t{1})}});
}

Names ExportCall::formula(Formula formula) {
  Builder builder("formula");
  const std::vector<Tensor> operands = operandTensors(builder, *this);
  const std::vector<Tensor> made = formula(operands);
  const Graph& graph = builder.graph().soFar();
  DFC_ASSERT(builder.graph().errors().empty(), render(builder.graph().errors()));
  std::vector<ValueId> wanted;
  for (size_t i = 0; i < made.size(); ++i) {
    if (i >= wanted_.size() || wanted_[i]) {
      wanted.push_back(made[i].value());
    }
  }
  const std::vector<bool> live = liveOps(graph, wanted);
  SideTable<ValueId, std::string> names(graph.valueCount());
  for (size_t i = 0; i < operands.size(); ++i) {
    names[operands[i].value()] = operands_[i];
  }
  for (const OpId op : graph.ops()) {
    if (!live[op.index()] || graph[op].kind() == OpKind::Input) {
      continue;
    }
    if (const auto* value = graph[op].getIf<ops::Constant>()) {
      names[graph[op].firstResult] = constant(value->value);
      continue;
    }
    Names inputs;
    for (const ValueId operand : graph[op].operands) {
      inputs.push_back(names[operand]);
    }
    ExportCall inner(writer_, graph, op, inputs, stem_, std::vector<bool>(graph[op].resultCount, true));
    const Names results = exportOp(inner);
    for (size_t i = 0; i < results.size(); ++i) {
      names[ValueId(graph[op].firstResult.index() + static_cast<uint32_t>(i))] = results[i];
    }
  }
  Names results;
  for (const Tensor& tensor : made) {
    results.push_back(names[tensor.value()]);
  }
  return results;
}

namespace {

/// The results of an op that makes no element; none for any other.
Names nothingOf(ExportCall& call) {
  Names results;
  for (size_t i = 0; i < call.results(); ++i) {
    if (call.resultType(i).shape.elements() != 0) {
      return {};
    }
    results.push_back(call.constant(Literal(call.resultType(i))));
  }
  return results;
}

} // namespace

Names exportOp(ExportCall& call) {
  if (Names nothing = nothingOf(call); !nothing.empty()) {
    return nothing;
  }
  const OpKind kind = call.attributes().kind();
  for (const auto family :
       {elementwiseExport, movementExport, reductionExport, networkExport, gradientExport}) {
    if (const OpExport known = family(kind)) {
      return known(call);
    }
  }
  if (formulaOf(kind) != nullptr) {
    return exportFormula(call);
  }
  if (isComposite(kind)) {
    return call.formula(
        [&](const std::vector<Tensor>& operands) { return decompose(call.attributes(), operands); });
  }
  throw NotExported("ONNX has no such op");
}

} // namespace dfc::onnx
