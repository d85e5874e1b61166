#include "tests/onnx/node_call.h"

#include "compiler/interpreter/evaluate.h"

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

Tensor NodeCall::operand(size_t index) const {
  if (!has(index)) {
    throw std::runtime_error(node_.op + " lacks operand " + std::to_string(index));
  }
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

int64_t NodeCall::integer(const std::string& name, int64_t otherwise) const {
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? otherwise : found->second.integer.value_or(otherwise);
}

double NodeCall::real(const std::string& name, double otherwise) const {
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? otherwise : found->second.real.value_or(otherwise);
}

std::string NodeCall::text(const std::string& name, const std::string& otherwise) const {
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? otherwise : found->second.text.value_or(otherwise);
}

Dims NodeCall::integers(const std::string& name, const Dims& otherwise) const {
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? otherwise
                                         : Dims(found->second.integers.begin(), found->second.integers.end());
}

const OnnxAttribute& NodeCall::attribute(const std::string& name) const {
  const auto found = node_.attributes.find(name);
  if (found == node_.attributes.end()) {
    throw std::runtime_error(node_.op + " lacks attribute " + name);
  }
  return found->second;
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
      return kind + " (" + op + ")";
    }
  }
  return "no op for " + op;
}

} // namespace

NodeMapping onnxMapping(const std::string& op) {
  static const MappingTable table = [] {
    MappingTable all;
    for (MappingTable part : {elementwiseMappings(), reductionMappings(), shapeMappings(), indexMappings(),
                              networkMappings(), normalisationMappings(), makerMappings(),
                              recurrentMappings(), resizeMappings(), einsumMapping(), lossMappings()}) {
      all.merge(part);
    }
    return all;
  }();
  const auto found = table.find(op);
  if (found == table.end()) {
    throw OutOfScope(whyNot(op));
  }
  return found->second;
}

} // namespace dfc::test
