// AttentionMasks: which keys a query sees, read from the ops with which an author masks scores.
#pragma once

#include "compiler/passes/constant_values.h"

#include <limits>
#include <optional>

namespace dfc {

/// Of scores [..., queries, keys].
struct KeyMask {
  enum class Kind : uint8_t {
    Everything, ///< every query sees every key
    Causal,     ///< query i sees keys 0, …, i
    WhereTrue,  ///< where `value`, bool, is true
    WhereFalse, ///< where `value`, bool, is false
    WhereZero,  ///< where `value`, a float, is 0
  };
  Kind kind = Kind::Everything;
  ValueId value;
  bool everyQuerySees = false; ///< at least one key, as far as it is known before a step
  /// What the scores of other keys are replaced by, or what is added to them: -infinity, or a number so low
  /// that the exponential is 0.
  double fill = -std::numeric_limits<double>::infinity();

  bool isOperand() const { return kind >= Kind::WhereTrue; }
};

class AttentionMasks {
 public:
  explicit AttentionMasks(const Graph& graph) : graph_(graph), constants_(graph) {}
  ConstantValues& constants() { return constants_; }

  /// A mask of scores of the shape `scores`, true (or false: `seenWhere`) where a key is seen; its fill is
  /// for the caller to set.
  KeyMask ofCondition(ValueId condition, bool seenWhere, const Shape& scores);
  /// A term that is 0 where a key is seen and very low elsewhere, `sign` times `term` being added to scores;
  /// none where that is not known before a step.
  std::optional<KeyMask> ofTerm(ValueId term, double sign, const Shape& scores);
  /// Whether a score of this number is as good as -infinity.
  static bool isLow(double number);

 private:
  std::optional<size_t> rampAxis(ValueId value, const Shape& scores, int depth = 0) const;
  std::optional<bool> comparesRamps(ValueId condition, const Shape& scores) const;
  ValueId withoutStretch(ValueId value) const;

  const Graph& graph_;
  ConstantValues constants_;
};

} // namespace dfc
