// An ONNX model under construction: nodes, initialisers, inputs and outputs by name, and its bytes. Large
// initialisers go to a second file, since a message of protobuf holds at most 2 GiB.
#pragma once

#include "ir/author/onnx/model.h"

#include <llvm/ADT/StringMap.h>

#include <set>
#include <string>
#include <vector>

namespace dfc::onnx {

using Names = std::vector<std::string>;
using Attributes = std::map<std::string, OnnxAttribute>;

/// The version of ONNX's ops that models are written for, and the format's version that it came with.
inline constexpr int64_t writtenOpset = 20, writtenFormat = 9;

OnnxAttribute attributeOf(int64_t value);
OnnxAttribute attributeOf(double value);
OnnxAttribute attributeOf(const char* value);
OnnxAttribute attributeOf(const Dims& values);

/// The format's number of an element type.
int64_t onnxElement(ElementType type);

/// The bytes of a model.
struct WrittenModel {
  std::string bytes;
  std::vector<Literal> external; ///< the contents of the second file, one behind the other, each padded
  /// Where each tensor of the second file begins: at multiples of this, as readers map it.
  static constexpr uint64_t alignment = 4096;
};

class ModelWriter {
 public:
  explicit ModelWriter(std::string graphName) : graphName_(std::move(graphName)) {}
  /// Keeps a name for what will be called so; false where something has it.
  bool reserve(const std::string& name) { return names_.insert(name).second; }
  /// `wanted`, or that with a suffix where something has it.
  std::string unique(const std::string& wanted);

  void input(const std::string& name, const TensorType& type) { inputs_.push_back({name, type}); }
  void output(const std::string& name, const TensorType& type) { outputs_.push_back({name, type}); }
  void initializer(const std::string& name, const Literal& value) { tensors_.push_back({name, value}); }
  /// The name of an initialiser with this value; short ones are shared.
  std::string constant(const Literal& value);
  void node(OnnxNode node) { nodes_.push_back(std::move(node)); }
  size_t nodeCount() const { return nodes_.size(); }
  /// Gives a result of one of the nodes from `first` on another name, wherever it stands. False where none of
  /// them makes it.
  bool rename(size_t first, const std::string& from, const std::string& to);

  /// Initialisers of 1 KiB and more go to the file `dataFile`, where all together take more than
  /// `mostInline` bytes.
  WrittenModel write(const std::string& dataFile, uint64_t mostInline) const;

 private:
  struct Port {
    std::string name;
    TensorType type;
  };
  struct NamedTensor {
    std::string name;
    Literal value;
  };
  std::string graphName_;
  std::vector<OnnxNode> nodes_;
  std::vector<NamedTensor> tensors_;
  std::vector<Port> inputs_, outputs_;
  std::set<std::string> names_;
  std::map<std::string, std::string> constants_; ///< names of short ones, by type and bytes
  std::map<std::string, int64_t> suffixes_;
};

} // namespace dfc::onnx
