// The C++ DSL: a graph written like the mathematics.
//
//     Builder g("mlp");
//     Tensor x = g.input("x", f32({64, 784}));
//     Tensor w1 = g.parameter("w1", f32({784, 256}), glorot(1));
//     Tensor h = relu(matmul(x, w1));
//     g.fetch("h", h);
//     Result<Graph> graph = std::move(g).finish();
//
// Shapes are checked where the call is written. A mistake is recorded with the C++ file and line; its result
// is a poisoned Tensor that later calls pass over in silence, so `finish` gives every real mistake at once. A
// mistake inside a named scope names it.
// Free functions for the ops of the table (matmul, relu, …) are in dfc/dsl.h.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/graph_class.h"
#include "ir/graph/initialiser.h"
#include "ir/graph/literal.h"

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace DFC_PUBLIC dfc {

class Builder;
class GraphBuilder; // what a Builder writes to
class OpAttributes;
enum class OpKind : uint8_t;
struct Provenance;

/// A value of a graph under construction. Poisoned after a mistake (`valid()` is false). Refers to its
/// Builder, which must outlive every call on it but `valid` and `value`. After the Builder's `finish`, ops on
/// it and, of a valid one, `type`, `shape`, `named` and `on` throw std::logic_error.
class Tensor {
 public:
  Tensor() = default;
  /// A value of a graph that `builder` writes.
  Tensor(Builder* builder, ValueId value) : builder_(builder), value_(value) {}
  /// False after a mistake.
  bool valid() const { return value_.valid(); }
  /// The id in the graph.
  ValueId value() const { return value_; }
  /// The builder that it belongs to; null for an empty Tensor. Throws std::logic_error after `finish`.
  Builder* builder() const;
  /// Of a poisoned tensor f32 with eight axes of length 1, so that code that computes with
  /// shapes runs on until `finish` says what went wrong. An empty Tensor, which belongs to no Builder that
  /// could say so, throws std::logic_error.
  const TensorType& type() const;
  /// The type's shape.
  const Shape& shape() const { return type().shape; }
  /// Renames the value, gives it back. A name that another value has gets a suffix, but for an input or a
  /// parameter that is refused: see Builder::parameter.
  Tensor named(std::string_view name, std::source_location where = std::source_location::current()) const;
  Tensor on(std::string_view device) const; ///< pins the op that makes it, gives it back

 private:
  Builder* builder_ = nullptr; // null: an empty Tensor
  ValueId value_;
};

/// What an op of the DSL takes: a tensor or a number (a scalar of the other operand's type), and where it was
/// written.
class Operand {
 public:
  /// A tensor, written at `where`.
  Operand(Tensor tensor, std::source_location where = std::source_location::current())
      : content_(tensor), where_(where) {}
  /// A number, written at `where`.
  Operand(double number, std::source_location where = std::source_location::current())
      : content_(number), where_(where) {}
  /// The tensor; null for a number.
  const Tensor* tensor() const { return std::get_if<Tensor>(&content_); }
  /// The number; null for a tensor.
  const double* number() const { return std::get_if<double>(&content_); }
  /// Where the operand was written.
  std::source_location where() const { return where_; }

 private:
  std::variant<Tensor, double> content_;
  std::source_location where_;
};

Initialiser zeros();                                             ///< every element 0
Initialiser constantInit(double value);                          ///< every element `value`
Initialiser uniform(double low, double high, int64_t seed);      ///< evenly in [low, high)
Initialiser normal(double mean, double deviation, int64_t seed); ///< normally distributed
Initialiser glorot(int64_t seed);       ///< uniform by fan-in and fan-out (Glorot and Bengio 2010)
Initialiser heNormal(int64_t seed);     ///< normal by fan-in, for layers that end in ReLU (He et al. 2015)
Initialiser heUniform(int64_t seed);    ///< uniform by fan-in, likewise
Initialiser fromFile(std::string path); ///< from a .npy file, "weights.safetensors#name" or "model.onnx#name"

/// Writes a graph, op by op, until `finish`; afterwards every call throws std::logic_error. Belongs to one
/// thread. See the top of this file.
class Builder {
 public:
  /// An empty graph of this name.
  explicit Builder(std::string name = "main");
  /// Appends to another's graph (a pass under way); `finish` is then the other's.
  explicit Builder(GraphBuilder& graph);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder();

  /// Inputs are fed, and parameters saved and restored, by name: two of one name are a mistake of the second.
  /// A name that another op's result has is taken from that, which then gets a suffix.
  Tensor input(std::string_view name, const TensorType& type,
               std::source_location where = std::source_location::current());
  /// A value that outlives a step, starting as `start` says; assign() gives its next value.
  Tensor parameter(std::string_view name, const TensorType& type, const Initialiser& start = zeros(),
                   std::source_location where = std::source_location::current());
  /// A parameter that code keeps on an author's behalf, such as an optimiser's state; a name that an input or
  /// another parameter has gets a suffix. One that a pass derives is marked so: a checkpoint may lack it.
  Tensor derivedParameter(std::string_view name, const TensorType& type, const Initialiser& start = zeros(),
                          std::source_location where = std::source_location::current());
  /// How many steps were run before this one, i64[]: a parameter "step" that dfc counts up, made at the first
  /// call. What is drawn by it (dropout) never repeats, and a checkpoint keeps it.
  Tensor step(std::source_location where = std::source_location::current());
  /// A value known when the graph is written.
  Tensor constant(const Literal& value, std::source_location where = std::source_location::current());
  /// A constant of no axes.
  Tensor scalar(ElementType type, double value, std::source_location where = std::source_location::current());
  /// The parameter's next value; gives that value.
  Tensor assign(Tensor parameter, Tensor value, std::source_location where = std::source_location::current());
  /// Gives `value` back to the caller of each step, under `name`; two fetches of one name are a mistake.
  void fetch(std::string_view name, Tensor value,
             std::source_location where = std::source_location::current());

  /// Any op of the table; single-result ops give one tensor. Poisoned operands give poisoned results.
  Tensor op(OpAttributes attributes, const std::vector<Tensor>& operands, std::source_location where);
  /// Any op of the table, with all of its results.
  std::vector<Tensor> multiOp(OpAttributes attributes, const std::vector<Tensor>& operands,
                              std::source_location where);

  /// Scopes and pins for the ops written while the guard lives. Scopes nest with '/'; the innermost pin
  /// holds.
  class [[nodiscard]] Guard {
   public:
    /// Made by Builder::scope, on, exactly and at.
    Guard(Builder& builder, std::string scope, std::string pin, std::optional<SourceLocation> place);
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard();

   private:
    Builder& builder_;
    std::string scopeBefore_, pinBefore_;
    std::optional<SourceLocation> placeBefore_;
  };
  Guard scope(std::string_view name);                          ///< enters a named scope
  Guard on(std::string_view device);                           ///< pins
  Guard scope(std::string_view name, std::string_view device); ///< both
  /// Exactly this scope path and pin, whatever surrounds (used for gradient ops).
  Guard exactly(std::string_view scopePath, std::string_view pin);
  /// Ops and mistakes are said to be written at `place`, whatever the calls say: for code that writes ops on
  /// an author's behalf. The innermost such guard holds.
  Guard at(const SourceLocation& place);
  /// Where a call written at `where` is said to be written.
  SourceLocation locate(std::source_location where) const;

  /// Records a mistake of the author, with the present scope: the place alone does not tell one call of a
  /// function from another.
  void report(std::source_location where, std::string message, std::string hint);
  /// Of the rooms of dfc: the graph under construction.
  GraphBuilder& graph();
  /// The graph with its warnings, or every mistake that was made while it was written. Once.
  Result<Graph> finish() &&;

 private:
  Provenance provenance(std::string_view name, std::source_location where) const;
  bool usable(Tensor operand, std::string_view what, std::source_location where);
  friend class Tensor;
  Tensor source(OpAttributes attributes, std::string_view name, std::source_location where);
  void renameSource(ValueId source, std::string_view name, std::source_location where);
  bool nameIsFree(OpKind kind, std::string_view name, std::source_location where);
  std::unique_ptr<GraphBuilder> own_;
  GraphBuilder* graph_; // null: finished
  std::string scope_, pin_;
  std::optional<SourceLocation> place_; // overrides the call's own
  ValueId step_;                        // of `step`, once it was asked for
};

} // namespace dfc
