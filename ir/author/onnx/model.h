// An ONNX model as its file has it, in plain structs: nodes, attributes, functions, and tensors that stay in
// the file until somebody asks for their elements. What the fields mean: onnx.ai, IR specification.
#pragma once

#include "ir/author/onnx/mapped_file.h"
#include "ir/graph/literal.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dfc::onnx {

/// A model, or a part of it, that means something which dfc cannot express: an element type, an op, an
/// attribute.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An op that no mapping knows.
struct MissingOp : Unsupported {
  using Unsupported::Unsupported;
};

/// The format's numbers of the element types that this code names.
namespace element {
inline constexpr int64_t f32 = 1, u8 = 2, i8 = 3, u16 = 4, i16 = 5, i32 = 6, i64 = 7, boolean = 9, f16 = 10,
                         f64 = 11, u32 = 12, u64 = 13, bf16 = 16, u4 = 21, i4 = 22;
} // namespace element

/// "float", "int8", …: the format's name of an element type.
std::string elementName(int64_t number);
/// The element type that holds every value of the format's type: its own, or a wider integer for a type that
/// dfc does not have (int8 in i32). Throws Unsupported naming the type.
ElementType elementOfOnnx(int64_t number);
/// Whether `elementOfOnnx` gives a wider type.
bool isWidened(int64_t number);

/// A tensor in the file: what it is, and where its elements lie.
struct OnnxTensor {
  std::string name;
  int64_t element = 0; ///< as the format counts the types
  std::vector<int64_t> dims;
  std::optional<Bytes> raw;
  std::vector<WireField> numbers; ///< fields that hold elements as numbers
  struct External {
    std::string location; ///< a file in the model's folder
    int64_t offset = 0, length = -1;
  };
  std::optional<External> external;
};

struct OnnxGraph;

struct OnnxAttribute {
  std::optional<int64_t> integer;
  std::optional<double> real;
  std::optional<std::string> text;
  std::optional<Literal> tensor;
  int64_t tensorElement = 0;              ///< as the format counts the types
  std::shared_ptr<const OnnxGraph> graph; ///< the body of a branch or a loop
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  std::string refused;   ///< why its tensor could not be taken; "" where it could
  std::string reference; ///< in a function: the attribute of the caller that stands here
};

struct OnnxNode {
  std::string op;
  std::vector<std::string> inputs, outputs; ///< "" for one that is left out
  std::map<std::string, OnnxAttribute> attributes;
  std::string name = {}, domain = {}, overload = {};
};

/// A dimension: a length, or a name that stands for one, or neither.
struct OnnxDim {
  int64_t length = -1; ///< below 0: not given
  std::string name = {};
};

/// An input or output.
struct OnnxPort {
  std::string name;
  int64_t element = 0;                           ///< as the format counts the types
  std::optional<std::vector<OnnxDim>> dims = {}; ///< none: not said, not even how many
  std::string other = {};                        ///< "a sequence", … of one that is no tensor
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxPort> inputs, outputs;
  std::string name = {};
  bool sparse = false; ///< has sparse initialisers
};

/// A domain's ops and their version.
using OpsetImports = std::map<std::string, int64_t>;

/// An op that the model defines itself, as nodes.
struct OnnxFunction {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, OnnxAttribute> defaults; ///< of attributes that a caller may leave out
  std::vector<OnnxNode> nodes;
  OpsetImports opsets;
};

struct OnnxModel {
  int64_t opset = 0; ///< of ONNX's own ops
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;
  std::string path;                       ///< "" for one that was made in memory
  std::shared_ptr<const MappedFile> file; ///< holds what tensors refer to
};

/// The name of ONNX's own domain is "", which "ai.onnx" stands for too.
std::string canonicalDomain(const std::string& domain);

/// Reads a model, not its external data. Throws BadFile for bytes that are no model.
OnnxModel parseModel(std::shared_ptr<const MappedFile> file, const std::string& path);
/// A TensorProto as a file of its own, as the node tests have them. Throws as parseModel does.
OnnxTensor parseTensor(Bytes bytes);

/// The files with tensors of a model, each mapped once.
class ExternalFiles {
 public:
  /// `model`: the path of the model, in whose folder all of them lie.
  explicit ExternalFiles(std::string model) : model_(std::move(model)) {}
  /// Throws Unsupported for a place outside the folder or the file, or a file that cannot be read.
  Bytes bytesOf(const OnnxTensor::External& place);

 private:
  std::string model_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

/// The type that a tensor has in dfc. Throws Unsupported for one that it cannot have.
TensorType typeOf(const OnnxTensor& tensor);
/// The elements. Throws Unsupported or BadFile where they are not all there; allocates nothing before.
Literal literalOf(const OnnxTensor& tensor, ExternalFiles& files);

} // namespace dfc::onnx
