#include "tests/support/onnx/onnx_message.h"

#include <span>

namespace dfc::test {
namespace {

// AttributeProto.AttributeType.
enum Kind : int64_t { Float = 1, Int = 2, String = 3, Tensor = 4, Graph = 5, Ints = 7 };

WireWriter attribute(const std::string& name, Kind kind) {
  WireWriter made;
  made.text(1, name);
  made.integer(20, kind);
  return made;
}

WireWriter entry(const std::string& key, const std::string& value) {
  WireWriter made;
  made.text(1, key);
  made.text(2, value);
  return made;
}

WireWriter tensorHead(const std::string& name, const std::vector<int64_t>& dims, int64_t element) {
  WireWriter made;
  made.integers(1, dims);
  made.integer(2, element);
  made.text(8, name);
  return made;
}

} // namespace

WireWriter integerField(const std::string& name, int64_t value) {
  WireWriter made = attribute(name, Int);
  made.integer(3, value);
  return made;
}

WireWriter realField(const std::string& name, float value) {
  WireWriter made = attribute(name, Float);
  made.real(2, value);
  return made;
}

WireWriter textField(const std::string& name, const std::string& value) {
  WireWriter made = attribute(name, String);
  made.text(4, value);
  return made;
}

WireWriter listField(const std::string& name, const std::vector<int64_t>& values) {
  WireWriter made = attribute(name, Ints);
  made.integers(8, values);
  return made;
}

WireWriter graphField(const std::string& name, const WireWriter& graph) {
  WireWriter made = attribute(name, Graph);
  made.message(6, graph);
  return made;
}

WireWriter tensorField(const std::string& name, const WireWriter& tensor) {
  WireWriter made = attribute(name, Tensor);
  made.message(5, tensor);
  return made;
}

WireWriter messageOf(const NodeMessage& node) {
  WireWriter made;
  for (const std::string& input : node.inputs) {
    made.text(1, input);
  }
  for (const std::string& output : node.outputs) {
    made.text(2, output);
  }
  made.text(3, node.name);
  made.text(4, node.op);
  for (const WireWriter& one : node.attributes) {
    made.message(5, one);
  }
  return made;
}

WireWriter portMessage(const std::string& name, const std::vector<int64_t>& dims, int64_t element) {
  WireWriter shape, tensor, type, made;
  for (const int64_t dim : dims) {
    WireWriter one;
    dim < 0 ? one.text(2, "batch") : one.integer(1, dim);
    shape.message(1, one);
  }
  tensor.integer(1, element);
  tensor.message(2, shape);
  type.message(1, tensor);
  made.text(1, name);
  made.message(2, type);
  return made;
}

WireWriter floatTensor(const std::string& name, const std::vector<int64_t>& dims,
                       const std::vector<float>& values) {
  WireWriter made = tensorHead(name, dims, 1);
  made.bytes(9, std::as_bytes(std::span(values)));
  return made;
}

WireWriter wholeTensor(const std::string& name, const std::vector<int64_t>& values) {
  WireWriter made = tensorHead(name, {static_cast<int64_t>(values.size())}, 7);
  made.integers(7, values);
  return made;
}

WireWriter externalTensor(const std::string& name, const std::vector<int64_t>& dims,
                          const std::string& location, const std::string& offset, const std::string& length) {
  WireWriter made = tensorHead(name, dims, 1);
  made.message(13, entry("location", location));
  if (!offset.empty()) {
    made.message(13, entry("offset", offset));
  }
  if (!length.empty()) {
    made.message(13, entry("length", length));
  }
  made.integer(14, 1);
  return made;
}

WireWriter messageOf(const GraphMessage& graph) {
  WireWriter made;
  for (const NodeMessage& node : graph.nodes) {
    made.message(1, messageOf(node));
  }
  made.text(2, graph.name);
  for (const WireWriter& tensor : graph.tensors) {
    made.message(5, tensor);
  }
  for (const WireWriter& input : graph.inputs) {
    made.message(11, input);
  }
  for (const WireWriter& output : graph.outputs) {
    made.message(12, output);
  }
  return made;
}

std::string modelBytes(const GraphMessage& graph, int64_t opset) {
  WireWriter set, made;
  set.integer(2, opset);
  made.integer(1, 8);
  made.message(7, messageOf(graph));
  made.message(8, set);
  return made.str();
}

} // namespace dfc::test
