// A node of an ONNX graph as the mapping sees it: operands as tensors of the DSL, attributes with their
// defaults, and what the format knows only when it runs (the axes of a reduction, the shape of a reshape) as
// literals, because dfc's shapes are static.
#pragma once

#include "ir/author/onnx/scope.h"

#include <set>

namespace dfc {
struct FormulaFacts;
}

namespace dfc::onnx {

Dims dimsOf(Tensor a);

/// Attributes and operands are handed out by accessors that mark them as read; `refuseUnread`, called when
/// the mapping is done, refuses what nobody asked for. A value that a mapping does not know is refused where
/// it is read. A refusal is an Unsupported that names the op and the attribute or operand.
class NodeCall {
 public:
  NodeCall(OnnxScope& scope, const OnnxNode& node, int64_t version)
      : scope_(scope), node_(node), opset_(version) {}
  NodeCall(const NodeCall&) = delete;
  NodeCall& operator=(const NodeCall&) = delete;
  int64_t opset() const { return opset_; }
  const std::string& op() const { return node_.op; }
  Builder& builder() { return scope_.builder(); }

  size_t operands() const { return node_.inputs.size(); }
  size_t results() const { return node_.outputs.size(); }
  /// Whether the operand is given; that alone does not read it.
  bool has(size_t index) const { return index < node_.inputs.size() && !node_.inputs[index].empty(); }
  /// Whether somebody may read the result.
  bool wants(size_t index) const { return index < node_.outputs.size() && !node_.outputs[index].empty(); }
  Tensor operand(size_t index) const;
  /// The same, which must have at least `least` axes.
  Tensor operandOfRank(size_t index, size_t least) const;
  Literal literal(size_t index) const { return scope_.literal(operand(index)); }
  Literal literalOf(Tensor tensor) const { return scope_.literal(tensor); }
  Dims dims(size_t index) const;           ///< a literal of rank 1 (or a scalar) as whole numbers
  double number(size_t index) const;       ///< its only element
  int64_t wholeNumber(size_t index) const; ///< likewise, of integers

  /// Whether the attribute is given; that alone does not read it.
  bool hasAttribute(const std::string& name) const { return node_.attributes.count(name) != 0; }
  int64_t integer(const std::string& name, int64_t otherwise) const;
  double real(const std::string& name, double otherwise) const;
  std::string text(const std::string& name) const; ///< of any contents; "" where it is not given
  /// A text of which the mapping knows these; the first is the default.
  std::string choice(const std::string& name, std::initializer_list<std::string_view> known) const;
  Dims integers(const std::string& name, const Dims& otherwise = {}) const;
  const OnnxAttribute& attribute(const std::string& name) const;
  const OnnxGraph& body(const std::string& name) const; ///< of an attribute that is a graph
  /// An axis counted from the front; refused where a tensor of `rank` axes has none of that number.
  size_t normal(int64_t axis, size_t rank) const;
  size_t axis(const std::string& name, int64_t otherwise, size_t rank) const; ///< of an attribute
  /// An attribute that must be above 0.
  int64_t positive(const std::string& name, int64_t otherwise) const;

  /// Reads an attribute of which the mapping knows one value only.
  void only(const std::string& name, int64_t known) const;
  void only(const std::string& name, const Dims& known) const;
  /// Reads what has no influence on the results that the mapping makes.
  void ignore(const std::string& name) const { readAttributes_.insert(name); }
  void ignore(size_t operand) const { readOperands_.insert(operand); }
  void refuseUnread() const;
  /// Throws Unsupported: the op with `what`.
  [[noreturn]] void refuse(const std::string& what) const;

  Tensor constant(const Literal& literal) { return builder().constant(literal); }
  /// A scalar of the element type of `like`.
  Tensor scalar(Tensor like, double value) { return builder().scalar(like.type().element, value); }
  Tensor whole(const std::vector<int64_t>& values); ///< i64 of rank 1
  /// See OnnxScope::spend.
  void spend(int64_t count) const { scope_.spend(count); }
  /// The model's element type of an operand or of what a result is to be.
  int64_t elementOf(Tensor tensor) const;
  Tensor ofElement(Tensor tensor, int64_t element) const; ///< gives the tensor back
  OnnxScope& scope() { return scope_; }

 private:
  const OnnxAttribute* found(const std::string& name) const;
  OnnxScope& scope_;
  const OnnxNode& node_;
  int64_t opset_;
  mutable std::set<std::string> readAttributes_;
  mutable std::set<size_t> readOperands_;
};

using NodeResults = std::vector<Tensor>;
using NodeMapping = NodeResults (*)(NodeCall&);

/// The op, with its domain where that is not ONNX's own.
std::string qualifiedName(const OnnxNode& node);

/// The mapping of an ONNX op; throws MissingOp where dfc's table cannot express it.
NodeMapping onnxMapping(const std::string& op);
bool hasOnnxMapping(const std::string& op);

/// The formula op that names this ONNX op as its own; null for none.
const FormulaFacts* formulaOfOnnx(const std::string& op);

/// What a node of ONNX's own ops computes, one tensor a result; throws Unsupported for a node that is not
/// understood as a whole.
NodeResults mapNode(OnnxScope& scope, const OnnxNode& node, int64_t opset);

/// What a file of mappings holds.
using MappingTable = std::map<std::string, NodeMapping>;
MappingTable elementwiseMappings();
MappingTable bitMappings();
MappingTable activationMappings();
MappingTable gridSampleMapping();
MappingTable roiAlignMapping();
MappingTable unpoolMappings();
MappingTable spectrumMappings();
MappingTable reductionMappings();
MappingTable shapeMappings();
MappingTable makerMappings();
MappingTable indexMappings();
MappingTable productMappings();
MappingTable convolutionMappings();
MappingTable poolMappings();
MappingTable normalisationMappings();
MappingTable recurrentMappings();
MappingTable resizeMappings();
MappingTable einsumMapping();
MappingTable lossMappings();
MappingTable controlMappings();
MappingTable attentionMappings();
MappingTable quantisedMappings();
MappingTable trigonometricMappings();
MappingTable determinantMapping();
MappingTable trainingMappings();

} // namespace dfc::onnx
