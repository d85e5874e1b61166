// The vocabulary that op files are written in: operand and result types, cost, arity, class, the attribute
// visitor and the base that holds the defaults. See ops/README.md for how an op is added.
#pragma once

#include "ir/graph/literal.h"
#include "ir/graph/product_shape.h"
#include "ir/graph/rules/split_families.h"
#include "ir/graph/tensor_type.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <string>
#include <string_view>
#include <vector>

namespace dfc {

using OperandTypes = llvm::ArrayRef<TensorType>;
/// The dimensions as a range that can be cut.
inline llvm::ArrayRef<int64_t> dimRange(const Shape& shape) { return {shape.dims().data(), shape.rank()}; }

/// What a type rule answers: the types of the results, or an error with the way out.
struct TypeResult {
  llvm::SmallVector<TensorType, 1> types;
  std::string error; ///< empty when the rule holds
  std::string hint;
  bool ok() const { return error.empty(); }
  static TypeResult of(const TensorType& type) { return {{type}, {}, {}}; }
  static TypeResult fail(std::string error, std::string hint) {
    return {{}, std::move(error), std::move(hint)};
  }
};

struct OpCost {
  double flops = 0; ///< arithmetic operations; a transcendental counts as ops/README.md says
  double bytes = 0; ///< bytes read plus bytes written
  /// Of a matmul-like op. Of attention, whose products are parts of kernels, the inner dimension alone.
  ProductShape product = {};
};

struct Arity {
  size_t least = 0, most = 0;
};
inline constexpr size_t anyNumber = 1U << 20;

/// What the compiler may take for granted of an op.
enum class OpClass : uint8_t {
  Source,      ///< input, parameter, constant: no operands
  State,       ///< assign
  Elementwise, ///< one scalar function of broadcast operands; may be fused
  Reduction,   ///< reduces axes of one operand; sum, mean and max may close a fused chain
  Contraction, ///< matmul
  View,        ///< bytes of operand 0: reshape, cut, stopGradient, subview
  Movement,    ///< elements by their place: transpose, slice, iota, …; cumSum and scatterAdd add them up
  Structured,  ///< a formula over whole axes or windows in one op: softmax, conv2d, attention, fused
  Custom,      ///< calls a function or launches a kernel of the author's: custom
  Transfer,    ///< copies a value to another device; made by the compiler
  Request,     ///< stands for ops that a pass makes: gradients
};

enum class Presence : uint8_t { Required, Optional };

/// An attribute with a text form of its own (a fused body).
class TextCoded {
 public:
  virtual ~TextCoded() = default;
  virtual std::string encode() const = 0;
  /// False, and unchanged, when the text does not parse.
  virtual bool decode(std::string_view text) = 0;
};

/// Sees each attribute of an op by name and by reference. Printing, parsing, sealing, comparing and hashing
/// are each one visitor, so that an op never lists its attributes twice.
class AttributeVisitor {
 public:
  virtual ~AttributeVisitor() = default;
  virtual void field(std::string_view name, bool& value, Presence presence) = 0;
  virtual void field(std::string_view name, int64_t& value, Presence presence) = 0;
  virtual void field(std::string_view name, double& value, Presence presence) = 0;
  virtual void field(std::string_view name, std::string& value, Presence presence) = 0;
  virtual void field(std::string_view name, Dims& value, Presence presence) = 0;
  virtual void field(std::string_view name, ElementType& value, Presence presence) = 0;
  virtual void field(std::string_view name, TensorType& value, Presence presence) = 0;
  virtual void field(std::string_view name, Literal& value, Presence presence) = 0;
  virtual void field(std::string_view name, TextCoded& value, Presence presence) = 0;
  /// An enumeration: `value` indexes `names`.
  virtual void choice(std::string_view name, uint8_t& value, llvm::ArrayRef<std::string_view> names,
                      Presence presence) = 0;
};

/// What an op has unless its struct says otherwise.
struct OpDefaults {
  /// Every backend gives the bits that the evaluator gives, whatever the operands: constants may be folded.
  static constexpr bool exact = false;
  void fields(AttributeVisitor&) {} // no attributes
  /// Makes it the op of a part; what an attribute says of the whole (shapes, padding, starts) is changed.
  /// How an op is cut has no default: `SplitRule split(OperandTypes operands, OperandTypes results) const`.
  void restrictTo(const SplitPart&) {}
};

/// One read of each operand and one write of each result, and `flopsPerElement` for each element of the first
/// result.
OpCost streamingCost(OperandTypes operands, OperandTypes results, double flopsPerElement);

} // namespace dfc
