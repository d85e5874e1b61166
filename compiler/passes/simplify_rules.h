// The interface of the rules of `simplify`. A rule looks at one call whose operands are simplified already
// and returns a replacement: an existing value, or another call of the same type.
#pragma once

#include "ir/graph/graph.h"

#include <optional>
#include <variant>

namespace dfc::simplification {

struct Call {
  OpAttributes attributes;
  llvm::SmallVector<ValueId, 3> operands;

  /// The attributes as their struct, null if it is another op.
  template <class T>
  const T* getIf() const {
    return attributes.getIf<T>();
  }
  OpKind kind() const { return kindOf(attributes); }
};

using Rewrite = std::variant<ValueId, Call>;

/// The new graph so far, and the call's place in it.
class Context {
 public:
  Context(const Graph& made, std::string_view pin, const TensorType& type,
          llvm::DenseMap<ValueId, std::optional<double>>& splats)
      : made_(made), pin_(pin), type_(type), splats_(splats) {}

  const TensorType& type() const { return type_; } ///< of the call's result
  const TensorType& typeOf(ValueId value) const { return made_.typeOf(value); }
  const Shape& shapeOf(ValueId value) const { return made_.typeOf(value).shape; }
  /// The op that makes `value`, when it is of this kind and the call may read that op's operands instead:
  /// an author's pin on it would be void otherwise.
  template <class T>
  const OpRow* producer(ValueId value) const {
    const OpRow& row = made_[made_[value].producer];
    const std::string_view pin = made_.text(row.pin);
    return row.getIf<T>() != nullptr && (pin.empty() || pin == pin_) ? &row : nullptr;
  }
  /// The number that every element of a constant is (by its bits); none for other values and for constants
  /// without elements.
  std::optional<double> splat(ValueId value) const;
  bool isSplat(ValueId value, double number) const; ///< by value and sign: -0 is not 0
  /// `value` as the call's result: itself, or stretched to the result's shape.
  Rewrite stretched(ValueId value) const;
  /// Whether the call may be left out for `value`: its own pin asks for no other device.
  bool mayBecome(ValueId value) const;

 private:
  const Graph& made_;
  std::string_view pin_;
  TensorType type_;
  llvm::DenseMap<ValueId, std::optional<double>>& splats_;
};

/// The first rule of its family that holds, or none.
std::optional<Rewrite> simplifyArithmetic(const Context& context, const Call& call);
std::optional<Rewrite> simplifyCast(const Context& context, const Call& call);
std::optional<Rewrite> simplifyMovement(const Context& context, const Call& call);
std::optional<Rewrite> dropBroadcasts(const Context& context, const Call& call);

} // namespace dfc::simplification
