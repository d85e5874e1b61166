// An op of a graph as its export sees it: names of its operands in the model, and the nodes that it becomes.
#pragma once

#include "ir/author/builder.h"
#include "ir/author/onnx/export/model_writer.h"
#include "ir/graph/graph.h"

#include <llvm/ADT/STLFunctionalExtras.h>

namespace dfc::onnx {

/// Thrown for an op that ONNX cannot say: why.
struct NotExported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ExportCall {
 public:
  /// `stem`: what names of nodes begin with.
  ExportCall(ModelWriter& writer, const Graph& graph, OpId op, Names operands, std::string stem,
             std::vector<bool> wanted)
      : writer_(writer), graph_(graph), op_(op), operands_(std::move(operands)), stem_(std::move(stem)),
        wanted_(std::move(wanted)) {}
  template <class Op>
  const Op& as() const {
    return graph_[op_].as<Op>();
  }
  const OpAttributes& attributes() const { return graph_[op_].attributes; }
  size_t operands() const { return operands_.size(); }
  const std::string& operand(size_t i) const { return operands_[i]; }
  const Names& all() const { return operands_; }
  const TensorType& type(size_t i) const { return graph_.typeOf(graph_[op_].operands[i]); }
  Dims dims(size_t i) const { return {type(i).shape.dims().begin(), type(i).shape.dims().end()}; }
  const TensorType& resultType(size_t i = 0) const {
    return graph_.typeOf(ValueId(graph_[op_].firstResult.index() + static_cast<uint32_t>(i)));
  }
  size_t results() const { return graph_[op_].resultCount; }
  /// Whether anybody reads the result.
  bool wants(size_t i) const { return wanted_[i]; }

  /// Adds a node; gives its result, or its results.
  std::string node(const std::string& op, const Names& inputs, const Attributes& attributes = {});
  Names nodeOf(size_t results, const std::string& op, const Names& inputs, const Attributes& attributes = {});
  std::string constant(const Literal& value) { return writer_.constant(value); }
  std::string list(const Dims& values); ///< i64 of rank 1
  std::string scalar(ElementType type, double value);
  std::string cast(const std::string& a, ElementType to);
  std::string reshaped(const std::string& a, const Dims& dims);

  using Formula = llvm::function_ref<std::vector<Tensor>(const std::vector<Tensor>& operands)>;
  /// What a formula of other ops becomes; it gets a tensor for each operand. Results that nobody reads may be
  /// "".
  Names formula(Formula formula);

 private:
  Names plainNode(size_t results, const std::string& op, const Names& inputs, const Attributes& attributes);
  Names inFloat(size_t results, const std::string& op, Names inputs, const Attributes& attributes);
  ModelWriter& writer_;
  const Graph& graph_;
  OpId op_;
  Names operands_;
  std::string stem_;
  std::vector<bool> wanted_;
};

/// The results of an op, one name each. Throws NotExported.
Names exportOp(ExportCall& call);

// By subject; each is a switch over the kinds that it knows.
using OpExport = Names (*)(ExportCall&);
/// Null for an op that is not of this family.
OpExport elementwiseExport(OpKind kind);
OpExport movementExport(OpKind kind);
OpExport reductionExport(OpKind kind);
OpExport networkExport(OpKind kind);
OpExport gradientExport(OpKind kind);

/// A formula op by the primitives of its body.
Names exportFormula(ExportCall& call);

} // namespace dfc::onnx
