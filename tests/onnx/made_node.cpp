#include "tests/onnx/made_node.h"

#include <algorithm>

namespace dfc::test {

Literal literal(ElementType element, const Shape& shape, const std::vector<double>& values) {
  Literal result(TensorType{element, shape});
  for (size_t i = 0; i < values.size(); ++i) {
    result.set(static_cast<int64_t>(i), values[i]);
  }
  return result;
}

Literal floats(const Shape& shape, const std::vector<double>& values) {
  return literal(ElementType::F32, shape, values);
}

Literal whole(const std::vector<double>& values) {
  return literal(ElementType::I64, {static_cast<int64_t>(values.size())}, values);
}

OnnxAttribute integerAttribute(int64_t value) {
  OnnxAttribute attribute;
  attribute.integer = value;
  return attribute;
}

OnnxAttribute realAttribute(double value) {
  OnnxAttribute attribute;
  attribute.real = value;
  return attribute;
}

OnnxAttribute textAttribute(const std::string& value) {
  OnnxAttribute attribute;
  attribute.text = value;
  return attribute;
}

OnnxAttribute listAttribute(const std::vector<int64_t>& values) {
  OnnxAttribute attribute;
  attribute.integers = values;
  return attribute;
}

std::string outcomeOf(const MadeNode& made) {
  OnnxModel model;
  OnnxData data;
  onnx::OnnxNode node{made.op, {}, {}, made.attributes};
  node.domain = made.domain;
  model.opset = made.opset;
  for (const std::optional<Literal>& operand : made.operands) {
    node.inputs.push_back(operand ? "x" + std::to_string(node.inputs.size()) : "");
    if (operand) {
      model.graph.inputs.push_back({node.inputs.back()});
      data.inputs.push_back(*operand);
    }
  }
  for (size_t i = 0; i < std::max<size_t>(made.wanted.size(), 1); ++i) {
    node.outputs.push_back("y" + std::to_string(i));
    model.graph.outputs.push_back({node.outputs.back()});
  }
  data.outputs = made.wanted;
  model.graph.nodes.push_back(node);
  return spoken(runOnnxModel(model, data));
}

} // namespace dfc::test
