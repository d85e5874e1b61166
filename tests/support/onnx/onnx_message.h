// Models of ONNX made field by field, right or wrong, for tests of what reads them. Numbers of fields:
// onnx.ai, onnx.proto.
#pragma once

#include "ir/author/onnx/wire.h"

#include <string>
#include <vector>

namespace dfc::test {

using onnx::WireWriter;

/// An attribute of each kind.
WireWriter integerField(const std::string& name, int64_t value);
WireWriter realField(const std::string& name, float value);
WireWriter textField(const std::string& name, const std::string& value);
WireWriter listField(const std::string& name, const std::vector<int64_t>& values);
WireWriter graphField(const std::string& name, const WireWriter& graph);
WireWriter tensorField(const std::string& name, const WireWriter& tensor);

struct NodeMessage {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::vector<WireWriter> attributes = {};
  std::string name = {};
};
WireWriter messageOf(const NodeMessage& node);

/// An input's or output's name and type; a dimension below 0 is free and called "batch".
WireWriter portMessage(const std::string& name, const std::vector<int64_t>& dims, int64_t element = 1);

/// A tensor of f32, its elements as raw bytes.
WireWriter floatTensor(const std::string& name, const std::vector<int64_t>& dims,
                       const std::vector<float>& values);
/// A tensor of i64, its elements as numbers.
WireWriter wholeTensor(const std::string& name, const std::vector<int64_t>& values);
/// A tensor of f32 whose elements lie in another file.
WireWriter externalTensor(const std::string& name, const std::vector<int64_t>& dims,
                          const std::string& location, const std::string& offset = "",
                          const std::string& length = "");

struct GraphMessage {
  std::vector<NodeMessage> nodes;
  std::vector<WireWriter> inputs = {portMessage("x", {2, 3})};
  std::vector<WireWriter> outputs = {portMessage("y", {})};
  std::vector<WireWriter> tensors = {};
  std::string name = {};
};
WireWriter messageOf(const GraphMessage& graph);

/// The bytes of a model of format 8.
std::string modelBytes(const GraphMessage& graph, int64_t opset = 17);

} // namespace dfc::test
