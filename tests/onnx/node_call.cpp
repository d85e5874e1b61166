#include "tests/onnx/node_call.h"

#include "compiler/interpreter/evaluate.h"
#include "ir/graph/formula/formulas.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::test {

void OnnxScope::input(const std::string& name, const Literal& value) {
  define(name, builder_.input(name, value.type()));
  feeds_.insert_or_assign(name, value);
}

Tensor OnnxScope::tensor(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw std::runtime_error("nothing is called '" + name + "'");
  }
  return found->second;
}

Literal OnnxScope::literal(Tensor tensor) const {
  if (!tensor.valid()) {
    throw std::runtime_error("a literal is asked for behind a mistake: " + render(builder_.graph().errors()));
  }
  const auto values = evaluateValues(builder_.graph().soFar(), feeds_);
  if (!values) {
    throw std::runtime_error(render(values.errors()));
  }
  return (*values)[tensor.value()];
}

Dims dimsOf(Tensor a) { return {a.shape().dims().begin(), a.shape().dims().end()}; }

void NodeCall::refuse(const std::string& what) const { throw OutOfScope(node_.op + " with " + what); }

Tensor NodeCall::operand(size_t index) const {
  if (!has(index)) {
    throw OutOfScope(fmt::format("{} without operand {}", node_.op, index));
  }
  readOperands_.insert(index);
  return scope_.tensor(node_.inputs[index]);
}

Dims NodeCall::dims(size_t index) const {
  const Literal values = literal(index);
  Dims dims;
  for (int64_t i = 0; i < values.type().shape.elements(); ++i) {
    dims.push_back(static_cast<int64_t>(values.at(i)));
  }
  return dims;
}

double NodeCall::number(size_t index) const { return literal(index).at(0); }

const OnnxAttribute* NodeCall::found(const std::string& name) const {
  readAttributes_.insert(name);
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? nullptr : &found->second;
}

int64_t NodeCall::integer(const std::string& name, int64_t otherwise) const {
  const OnnxAttribute* given = found(name);
  if (given != nullptr && !given->integer) {
    refuse(fmt::format("attribute '{}' that is no integer", name));
  }
  return given == nullptr ? otherwise : *given->integer;
}

double NodeCall::real(const std::string& name, double otherwise) const {
  const OnnxAttribute* given = found(name);
  if (given != nullptr && !given->real) {
    refuse(fmt::format("attribute '{}' that is no float", name));
  }
  return given == nullptr ? otherwise : *given->real;
}

std::string NodeCall::text(const std::string& name) const {
  const OnnxAttribute* given = found(name);
  if (given != nullptr && !given->text) {
    refuse(fmt::format("attribute '{}' that is no text", name));
  }
  return given == nullptr ? "" : *given->text;
}

std::string NodeCall::choice(const std::string& name, std::initializer_list<std::string_view> known) const {
  std::string given = hasAttribute(name) ? text(name) : std::string(*known.begin());
  if (std::find(known.begin(), known.end(), given) == known.end()) {
    refuse(fmt::format("{} = '{}'", name, given));
  }
  return given;
}

Dims NodeCall::integers(const std::string& name, const Dims& otherwise) const {
  const OnnxAttribute* given = found(name);
  if (given != nullptr && (given->integer || given->real || given->text || given->tensor)) {
    refuse(fmt::format("attribute '{}' that is no list of integers", name));
  }
  return given == nullptr ? otherwise : Dims(given->integers.begin(), given->integers.end());
}

const OnnxAttribute& NodeCall::attribute(const std::string& name) const {
  const OnnxAttribute* given = found(name);
  if (given == nullptr) {
    throw OutOfScope(fmt::format("{} without attribute '{}'", node_.op, name));
  }
  return *given;
}

void NodeCall::only(const std::string& name, int64_t known) const {
  if (const int64_t given = integer(name, known); given != known) {
    refuse(fmt::format("{} = {}", name, given));
  }
}

void NodeCall::only(const std::string& name, const Dims& known) const {
  if (const Dims given = integers(name, known); given != known) {
    refuse(fmt::format("{} = [{}]", name, fmt::join(given, ", ")));
  }
}

void NodeCall::refuseUnread() const {
  for (const auto& [name, attribute] : node_.attributes) {
    if (readAttributes_.count(name) == 0) {
      refuse(fmt::format("attribute '{}'", name));
    }
  }
  for (size_t i = 0; i < operands(); ++i) {
    if (has(i) && readOperands_.count(i) == 0) {
      refuse(fmt::format("operand {} ('{}')", i, node_.inputs[i]));
    }
  }
}

Tensor NodeCall::whole(const std::vector<int64_t>& values) {
  return builder().constant(
      Literal(Shape{static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

namespace {

// What kind of op it is that dfc has none for.
std::string whyNot(const std::string& op) {
  static const std::map<std::string, std::vector<std::string>> kinds = {
      {"control flow", {"If", "Loop", "Scan"}},
      {"a shape that depends on data", {"Compress", "NonMaxSuppression", "NonZero", "Unique"}},
      {"random numbers of another generator",
       {"Bernoulli", "Multinomial", "RandomNormalLike", "RandomUniformLike"}},
      {"quantised arithmetic",
       {"ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv",
        "QLinearMatMul", "QuantizeLinear"}}};
  for (const auto& [kind, ops] : kinds) {
    if (std::find(ops.begin(), ops.end(), op) != ops.end()) {
      return fmt::format("{} ({})", kind, op);
    }
  }
  return "no op for " + op;
}

} // namespace

namespace {

const MappingTable& mappings() {
  static const MappingTable table = [] {
    MappingTable all;
    for (MappingTable part : {elementwiseMappings(), reductionMappings(), shapeMappings(), indexMappings(),
                              networkMappings(), normalisationMappings(), makerMappings(),
                              recurrentMappings(), resizeMappings(), einsumMapping(), lossMappings()}) {
      all.merge(part);
    }
    return all;
  }();
  return table;
}

NodeResults mapFormula(const FormulaFacts& formula, NodeCall& call) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < formula.operands; ++i) {
    operands.push_back(call.operand(i));
  }
  return {call.builder().op(defaultAttributes(formula.kind), operands, std::source_location::current())};
}

} // namespace

bool hasOnnxMapping(const std::string& op) { return mappings().count(op) != 0; }

NodeMapping onnxMapping(const std::string& op) {
  const auto found = mappings().find(op);
  if (found == mappings().end()) {
    throw OutOfScope(whyNot(op));
  }
  return found->second;
}

const FormulaFacts* formulaOfOnnx(const std::string& op) {
  for (const FormulaFacts* formula : allFormulas()) {
    if (!formula->onnxName.empty() && formula->onnxName == op) {
      return formula;
    }
  }
  return nullptr;
}

NodeResults mapNode(OnnxScope& scope, const OnnxNode& node, int64_t opset) {
  NodeCall call(scope, node, opset);
  const FormulaFacts* formula = formulaOfOnnx(node.op);
  // With attributes it is another function than the formula: a mapping may know them.
  const bool plain = formula != nullptr && (node.attributes.empty() || !hasOnnxMapping(node.op));
  NodeResults results = plain ? mapFormula(*formula, call) : onnxMapping(node.op)(call);
  call.refuseUnread();
  for (size_t i = results.size(); i < node.outputs.size(); ++i) {
    if (call.wants(i)) {
      throw OutOfScope(fmt::format("result {} of {}", i, node.op));
    }
  }
  return results;
}

} // namespace dfc::test
