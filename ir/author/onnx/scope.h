// What an import holds while it walks over a model: the graph under construction, the values by name, and
// what is known of them before anything runs, since shapes in dfc are static and ONNX computes its own
// (chains of Shape, Gather, Concat, Reshape).
#pragma once

#include "ir/author/builder.h"
#include "ir/author/onnx/model.h"
#include "ir/base/id_map.h"
#include "ir/graph/op.h"

#include <llvm/ADT/DenseMap.h>

#include <functional>

namespace dfc::onnx {

/// The results of an op for these operands; the reference interpreter's evaluateOp.
using OpEvaluator = llvm::SmallVector<Literal, 1> (*)(const OpAttributes& attributes,
                                                      llvm::ArrayRef<Literal> operands);

/// Contents of values of a graph under construction, as far as they follow from constants and from sources
/// whose contents are given. Bounded: a model that asks for more work than folding shapes can need is
/// refused.
class KnownValues {
 public:
  KnownValues(Builder& builder, OpEvaluator evaluate) : builder_(builder), evaluate_(evaluate) {}
  /// The contents of an input or parameter, to be fetched when they are needed.
  void give(Tensor source, std::function<Literal()> contents) {
    given_[source.value()] = std::move(contents);
  }
  /// The contents. Throws Unsupported where they depend on an input, or are too much work.
  Literal of(Tensor tensor);
  /// The contents of a constant whose computation takes at most `work` operations and bytes.
  std::optional<Literal> ofConstant(Tensor tensor, double work);
  /// Whether constants alone decide it.
  bool isConstant(Tensor tensor);

 private:
  std::vector<OpId> neededFor(ValueId value) const;
  double workOf(const std::vector<OpId>& ops) const;
  void evaluate(OpId op);
  Literal ofSource(ValueId value) const;
  Builder& builder_;
  OpEvaluator evaluate_;
  llvm::DenseMap<ValueId, std::function<Literal()>> given_;
  llvm::DenseMap<ValueId, Literal> known_;
  std::vector<bool> constant_; ///< of each op so far
  double work_ = 0;            ///< operations and bytes so far
};

/// Something wrong with a model, or missing in dfc.
struct Problem {
  enum class Kind : uint8_t {
    MissingOp,   ///< `what` is the op
    Unsupported, ///< dfc cannot express it
    Mistake,     ///< the model is wrong
  };
  Kind kind = Kind::Mistake;
  std::string what, hint = {};
  std::string op = {},
              node = {}; ///< the node's op, with its domain, and its name; "" of the model as a whole
  uint32_t ordinal = 0;  ///< of the node in the model's graph, from 1
};

/// Thrown where a node reads a value that an earlier problem left out: no problem of its own.
struct Poisoned {};

/// What the scopes of one import share.
struct ImportState {
  ImportState(Builder& graph, OpEvaluator evaluate, const OnnxModel& from)
      : builder(graph), known(graph, evaluate), model(from), external(from.path) {}
  Builder& builder;
  KnownValues known;
  const OnnxModel& model;
  ExternalFiles external;
  std::vector<Problem> problems;
  llvm::DenseMap<ValueId, int64_t>
      widened;          ///< the model's element type of values that are held in a wider one
  uint32_t ordinal = 0; ///< of the node of the model's graph that is under way
  int depth = 0;        ///< of bodies and functions
  int64_t spent = 0;    ///< see OnnxScope::spend
};

/// The values of a graph, or of a body or function within it, by name.
class OnnxScope {
 public:
  explicit OnnxScope(ImportState& state, const OnnxScope* outer = nullptr) : state_(state), outer_(outer) {}
  OnnxScope(const OnnxScope&) = delete;
  OnnxScope& operator=(const OnnxScope&) = delete;
  ImportState& state() { return state_; }
  Builder& builder() { return state_.builder; }
  /// A value of a name that has none yet here; throws BadFile where it has.
  void define(const std::string& name, Tensor tensor);
  /// A value that is made when somebody asks for it.
  void defer(const std::string& name, std::function<Tensor()> make);
  void poison(const std::string& name) { values_[name] = {Tensor(), {}, true}; }
  /// Throws BadFile where nothing has the name, Poisoned where a problem has left it out.
  Tensor tensor(const std::string& name);
  bool defines(const std::string& name) const { return values_.count(name) != 0; }
  Literal literal(Tensor tensor) { return state_.known.of(tensor); }
  /// Maps nodes in order; what goes wrong with a node is a problem, and poisons its results.
  void run(const std::vector<OnnxNode>& nodes, int64_t opset);
  /// The outputs of a body for these inputs.
  std::vector<Tensor> inlined(const OnnxGraph& body, const std::vector<Tensor>& inputs, int64_t opset);
  /// Counts ops and elements that an import makes by the lengths of axes. Throws Unsupported where they would
  /// fill memory: unrolled loops, tables of indices.
  void spend(int64_t count);

 private:
  struct Value {
    Tensor tensor;
    std::function<Tensor()> make; ///< not made yet
    bool poisoned = false;
  };
  void runNode(const OnnxNode& node, int64_t opset);
  void defineResults(const OnnxNode& node, const std::vector<Tensor>& results, size_t opsBefore);
  std::vector<Tensor> call(const OnnxFunction& function, const OnnxNode& node);
  void report(const OnnxNode& node, Problem::Kind kind, const std::string& what);
  ImportState& state_;
  const OnnxScope* outer_;
  std::map<std::string, Value> values_;
};

/// Defines the initialisers of a graph: constants, or, of the model's own graph, parameters that start from
/// `weightFile`, made when somebody reads them. "" makes constants of all.
void defineInitializers(OnnxScope& scope, const OnnxGraph& graph, const std::string& weightFile);

} // namespace dfc::onnx
