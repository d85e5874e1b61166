#include "tests/onnx/model_file.h"

#include "onnx_subset.pb.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <fstream>

namespace dfc::test {
namespace {

namespace file = onnx_file;

// TensorProto.DataType of the format, in its order.
constexpr std::array<std::string_view, 27> typeNames = {
    "undefined", "float",      "uint8",      "int8",         "uint16",         "int16",      "int32",
    "int64",     "string",     "bool",       "half",         "double",         "uint32",     "uint64",
    "complex64", "complex128", "bfloat16",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
    "uint4",     "int4",       "float4e2m1", "float8e8m0",   "uint2",          "int2"};

template <class Message>
Message parsed(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  Message message;
  if (!in || !message.ParseFromIstream(&in)) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return message;
}

// The elements that stand in a typed field, one number each; 16-bit floats stand there as their bits.
template <class Field>
void setElements(Literal& literal, const Field& field) {
  const bool bits = literal.type().element == ElementType::F16 || literal.type().element == ElementType::BF16;
  for (int i = 0; i < field.size(); ++i) {
    if (bits) {
      const auto half = static_cast<uint16_t>(field.Get(i));
      std::memcpy(literal.mutableBytes().data() + 2 * static_cast<size_t>(i), &half, sizeof half);
    } else if (literal.type().element == ElementType::I64) {
      literal.mutableData<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(field.Get(i));
    } else {
      literal.set(i, static_cast<double>(field.Get(i)));
    }
  }
}

Literal literalOf(const file::TensorProto& tensor) {
  const Dims dims(tensor.dims().begin(), tensor.dims().end());
  if (dims.size() > Shape::maxRank) {
    throw OutOfScope(fmt::format("rank {}", dims.size()));
  }
  Literal literal(TensorType{elementOfOnnx(tensor.data_type()), Shape(dims)});
  const auto elements = static_cast<int>(literal.type().shape.elements());
  if (tensor.has_raw_data() && tensor.raw_data().size() == literal.bytes().size()) {
    std::memcpy(literal.mutableBytes().data(), tensor.raw_data().data(), tensor.raw_data().size());
  } else if (tensor.float_data_size() == elements) {
    setElements(literal, tensor.float_data());
  } else if (tensor.int32_data_size() == elements) {
    setElements(literal, tensor.int32_data());
  } else if (tensor.int64_data_size() == elements) {
    setElements(literal, tensor.int64_data());
  } else if (tensor.double_data_size() == elements) {
    setElements(literal, tensor.double_data());
  } else {
    throw std::runtime_error("a tensor of " + toString(literal.type()) + " without as many elements");
  }
  return literal;
}

OnnxAttribute attributeOf(const file::AttributeProto& from) {
  OnnxAttribute attribute;
  if (from.has_i()) {
    attribute.integer = from.i();
  }
  if (from.has_f()) {
    attribute.real = from.f();
  }
  if (from.has_s()) {
    attribute.text = from.s();
  }
  if (from.has_t()) {
    try {
      attribute.tensor = literalOf(from.t());
    } catch (const OutOfScope& reason) {
      attribute.refused = reason.what();
    }
  }
  attribute.integers.assign(from.ints().begin(), from.ints().end());
  attribute.reals.assign(from.floats().begin(), from.floats().end());
  return attribute;
}

OnnxNode nodeOf(const file::NodeProto& from) {
  OnnxNode node{from.op_type(),
                {from.input().begin(), from.input().end()},
                {from.output().begin(), from.output().end()},
                {}};
  for (const file::AttributeProto& attribute : from.attribute()) {
    node.attributes[attribute.name()] = attributeOf(attribute);
  }
  return node;
}

template <class Field>
std::vector<OnnxPort> portsOf(const Field& field, const std::string& what) {
  std::vector<OnnxPort> ports;
  for (const file::ValueInfoProto& port : field) {
    if (!port.type().has_tensor_type()) {
      throw OutOfScope(what + " that is a sequence or optional");
    }
    ports.push_back({port.name(), port.type().tensor_type().elem_type()});
  }
  return ports;
}

} // namespace

ElementType elementOfOnnx(int64_t number) {
  switch (number) {
  case 1: return ElementType::F32;
  case 2: return ElementType::U8;
  case 6: return ElementType::I32;
  case 7: return ElementType::I64;
  case 9: return ElementType::Bool;
  case 10: return ElementType::F16;
  case 11: return ElementType::F64;
  case 16: return ElementType::BF16;
  default: break;
  }
  const bool known = number >= 0 && number < static_cast<int64_t>(typeNames.size());
  throw OutOfScope(
      fmt::format("no element type {}", known ? typeNames[static_cast<size_t>(number)] : "of that number"));
}

OnnxModel readOnnxModel(const std::filesystem::path& path) {
  const auto from = parsed<file::ModelProto>(path);
  OnnxModel model;
  for (const file::OperatorSetIdProto& set : from.opset_import()) {
    if (!set.domain().empty() && set.domain() != "ai.onnx") {
      throw OutOfScope("ops of the domain " + set.domain());
    }
    model.opset = set.version();
  }
  model.inputs = portsOf(from.graph().input(), "an input");
  model.outputs = portsOf(from.graph().output(), "an output");
  for (const file::TensorProto& tensor : from.graph().initializer()) {
    model.initializers.emplace(tensor.name(), literalOf(tensor));
  }
  for (const file::NodeProto& node : from.graph().node()) {
    model.nodes.push_back(nodeOf(node));
  }
  return model;
}

Literal readOnnxTensor(const std::filesystem::path& path, const OnnxPort& port) {
  constexpr int64_t u16 = 4, bf16 = 16;
  auto tensor = parsed<file::TensorProto>(path);
  if (tensor.data_type() == u16 && port.element == bf16) {
    tensor.set_data_type(bf16);
  }
  return literalOf(tensor);
}

} // namespace dfc::test
