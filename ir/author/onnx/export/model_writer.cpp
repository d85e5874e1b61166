// The messages of the format, field by field; their numbers: onnx.ai, onnx.proto.
#include "ir/author/onnx/export/model_writer.h"

#include "ir/author/onnx/wire.h"

#include <fmt/format.h>

namespace dfc::onnx {
namespace {

constexpr size_t shortConstant = 64;   // bytes; those are shared
constexpr size_t leastExternal = 1024; // bytes; smaller ones stay in the model

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// AttributeProto.AttributeType.
enum AttributeKind : int64_t { floatKind = 1, intKind = 2, stringKind = 3, intsKind = 7 };

WireWriter attributeMessage(const std::string& name, const OnnxAttribute& attribute) {
  WireWriter message;
  message.text(1, name);
  if (attribute.real) {
    message.real(2, static_cast<float>(*attribute.real));
  } else if (attribute.integer) {
    message.integer(3, *attribute.integer);
  } else if (attribute.text) {
    message.text(4, *attribute.text);
  } else {
    message.integers(8, attribute.integers);
  }
  message.integer(20, attribute.real      ? floatKind
                      : attribute.integer ? intKind
                      : attribute.text    ? stringKind
                                          : intsKind);
  return message;
}

WireWriter nodeMessage(const OnnxNode& node) {
  WireWriter message;
  for (const std::string& input : node.inputs) {
    message.text(1, input);
  }
  for (const std::string& output : node.outputs) {
    message.text(2, output);
  }
  message.text(3, node.name);
  message.text(4, node.op);
  for (const auto& [name, attribute] : node.attributes) {
    message.message(5, attributeMessage(name, attribute));
  }
  return message;
}

WireWriter portMessage(const std::string& name, const TensorType& type) {
  WireWriter shape, tensor, typeMessage, message;
  for (const int64_t dim : type.shape.dims()) {
    WireWriter one;
    one.integer(1, dim);
    shape.message(1, one);
  }
  tensor.integer(1, onnxElement(type.element));
  tensor.message(2, shape);
  typeMessage.message(1, tensor);
  message.text(1, name);
  message.message(2, typeMessage);
  return message;
}

WireWriter entry(const char* key, const std::string& value) {
  WireWriter message;
  message.text(1, key);
  message.text(2, value);
  return message;
}

WireWriter tensorHead(const std::string& name, const TensorType& type) {
  WireWriter message;
  const Dims dims(type.shape.dims().begin(), type.shape.dims().end());
  message.integers(1, dims);
  message.integer(2, onnxElement(type.element));
  message.text(8, name);
  return message;
}

WireWriter externalTensor(WireWriter head, const std::string& file, uint64_t offset, size_t length) {
  head.message(13, entry("location", file));
  head.message(13, entry("offset", std::to_string(offset)));
  head.message(13, entry("length", std::to_string(length)));
  head.integer(14, 1); // EXTERNAL
  return head;
}

} // namespace

OnnxAttribute attributeOf(int64_t value) {
  OnnxAttribute attribute;
  attribute.integer = value;
  return attribute;
}

OnnxAttribute attributeOf(double value) {
  OnnxAttribute attribute;
  attribute.real = value;
  return attribute;
}

OnnxAttribute attributeOf(const char* value) {
  OnnxAttribute attribute;
  attribute.text = value;
  return attribute;
}

OnnxAttribute attributeOf(const Dims& values) {
  OnnxAttribute attribute;
  attribute.integers.assign(values.begin(), values.end());
  return attribute;
}

int64_t onnxElement(ElementType type) {
  switch (type) {
  case ElementType::F32: return element::f32;
  case ElementType::F64: return element::f64;
  case ElementType::F16: return element::f16;
  case ElementType::BF16: return element::bf16;
  case ElementType::I32: return element::i32;
  case ElementType::I64: return element::i64;
  case ElementType::U8: return element::u8;
  case ElementType::Bool: return element::boolean;
  }
  return 0;
}

std::string ModelWriter::unique(const std::string& wanted) {
  std::string name = wanted;
  while (!reserve(name)) {
    name = fmt::format("{}.{}", wanted, ++suffixes_.try_emplace(wanted, 1).first->second);
  }
  return name;
}

std::string ModelWriter::constant(const Literal& value) {
  const std::span<const std::byte> bytes = value.bytes();
  const std::string key =
      bytes.size() > shortConstant ? "" : fmt::format("{} {}", toString(value.type()), textOf(bytes));
  if (const auto found = constants_.find(key); found != constants_.end()) {
    return found->second;
  }
  std::string name = unique("constant");
  initializer(name, value);
  if (!key.empty()) {
    constants_.emplace(key, name);
  }
  return name;
}

bool ModelWriter::rename(size_t first, const std::string& from, const std::string& to) {
  bool made = false;
  for (size_t i = first; i < nodes_.size(); ++i) {
    for (std::string& output : nodes_[i].outputs) {
      made = made || output == from;
      output = output == from ? to : output;
    }
    for (std::string& input : nodes_[i].inputs) {
      input = made && input == from ? to : input;
    }
  }
  return made;
}

WrittenModel ModelWriter::write(const std::string& dataFile, uint64_t mostInline) const {
  uint64_t all = 0, offset = 0;
  for (const NamedTensor& tensor : tensors_) {
    all += tensor.value.bytes().size();
  }
  WrittenModel written;
  WireWriter graph, opset, model;
  for (const OnnxNode& node : nodes_) {
    graph.message(1, nodeMessage(node));
  }
  graph.text(2, graphName_);
  for (const NamedTensor& tensor : tensors_) {
    WireWriter message = tensorHead(tensor.name, tensor.value.type());
    const std::span<const std::byte> bytes = tensor.value.bytes();
    if (all > mostInline && bytes.size() >= leastExternal) {
      message = externalTensor(std::move(message), dataFile, offset, bytes.size());
      offset +=
          (bytes.size() + WrittenModel::alignment - 1) / WrittenModel::alignment * WrittenModel::alignment;
      written.external.push_back(tensor.value);
    } else {
      message.bytes(9, bytes);
    }
    graph.message(5, message);
  }
  for (const Port& port : inputs_) {
    graph.message(11, portMessage(port.name, port.type));
  }
  for (const Port& port : outputs_) {
    graph.message(12, portMessage(port.name, port.type));
  }
  opset.text(1, "");
  opset.integer(2, writtenOpset);
  model.integer(1, writtenFormat);
  model.text(2, "dfc");
  model.message(7, graph);
  model.message(8, opset);
  written.bytes = model.str();
  return written;
}

} // namespace dfc::onnx
