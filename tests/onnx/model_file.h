// An ONNX model and its test data, read from their protobuf files into plain structs: no type of protobuf
// shows. For the node tests of Debian's libonnx-testdata, no more: one graph, no functions, no external data.
#pragma once

#include "ir/graph/literal.h"

#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace dfc::test {

/// Why a node test is none of ours: an element type that dfc does not have, an op that its table lacks.
struct OutOfScope : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct OnnxAttribute {
  std::optional<int64_t> integer;
  std::optional<double> real;
  std::optional<std::string> text;
  std::optional<Literal> tensor;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::string refused; ///< why its tensor could not be taken; "" where it could
};

struct OnnxNode {
  std::string op;
  std::vector<std::string> inputs, outputs; ///< "" for one that is left out
  std::map<std::string, OnnxAttribute> attributes;
};

struct OnnxPort {
  std::string name;
  int64_t element = 0; ///< as the format counts the types
};

struct OnnxModel {
  int64_t opset = 0;
  std::vector<OnnxNode> nodes;
  std::map<std::string, Literal> initializers;
  std::vector<OnnxPort> inputs, outputs;
};

/// Throws OutOfScope for what a model holds and dfc cannot; std::runtime_error for a file that does not
/// parse.
OnnxModel readOnnxModel(const std::filesystem::path& file);

/// A tensor of test data (input_N.pb, output_N.pb) for an input or output of the model, whose type it has;
/// bf16 is stored as u16. Throws as readOnnxModel does.
Literal readOnnxTensor(const std::filesystem::path& file, const OnnxPort& port);

/// The number that ONNX gives an element type as dfc's; throws OutOfScope naming the type.
ElementType elementOfOnnx(int64_t number);

} // namespace dfc::test
