// AttentionMasks: analyses the ops that mask attention scores: which keys does a query attend to?
#pragma once

#include "compiler/passes/constant_values.h"

#include <limits>
#include <optional>

namespace dfc {

/// A mask of scores [..., queries, keys].
struct KeyMask {
  enum class Kind : uint8_t {
    Everything, ///< every query sees every key
    Causal,     ///< query i sees keys 0, …, i
    WhereTrue,  ///< where `value`, bool, is true
    WhereFalse, ///< where `value`, bool, is false
    WhereZero,  ///< where `value`, an additive bias, is 0
  };
  Kind kind = Kind::Everything;
  ValueId value;
  bool everyQuerySees = false; ///< every query is known to have an unmasked key
  /// Fill value: the score that a select gives a masked key, or the additive bias of one. -infinity, or a
  /// finite number (isLow) whose exponential underflows to 0 in the softmax.
  double fill = -std::numeric_limits<double>::infinity();

  bool isOperand() const { return kind >= Kind::WhereTrue; }
};

class AttentionMasks {
 public:
  explicit AttentionMasks(const Graph& graph) : graph_(graph), constants_(graph) {}
  ConstantValues& constants() { return constants_; }

  /// The mask of a select on scores of the shape `scores`: `condition` equals `seenWhere` at unmasked keys.
  /// The caller sets its fill.
  KeyMask ofCondition(ValueId condition, bool seenWhere, const Shape& scores);
  /// The mask of an additive bias, `sign` times `term`: 0 at unmasked keys, low at the others. None if `term`
  /// is not known at compile time to be such a bias.
  std::optional<KeyMask> ofTerm(ValueId term, double sign, const Shape& scores);
  /// Whether a score is so low, at most -1e4, that its exponential underflows to 0 beside unmasked scores.
  static bool isLow(double number);

 private:
  std::optional<size_t> rampAxis(ValueId value, const Shape& scores, int depth = 0) const;
  std::optional<bool> comparesRamps(ValueId condition, const Shape& scores) const;
  ValueId withoutStretch(ValueId value) const;

  const Graph& graph_;
  ConstantValues constants_;
};

} // namespace dfc
