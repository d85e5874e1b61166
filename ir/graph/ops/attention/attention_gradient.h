// attentionGradient(q, k, v, cotangent, logSumExp, delta, mask, causal=false, scale=1/sqrt(width),
// layout=heads, keyHeads, precision): three results, the gradients of attention's first result to q, k and v
// (Dao et al. 2022, app. B); with layout=packed one result, in which they lie as q, k and v do. logSumExp is
// attention's second result; delta: the sum over a row of attention's first result times its cotangent, less
// the cotangent of logSumExp, of the type and shape of logSumExp, and finite; the other operands and the
// attributes are attention's.
#pragma once

#include "ir/graph/ops/attention/attention.h"

namespace dfc::ops {

struct AttentionGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{6, 7};
  Attention forward; ///< the attributes
  void fields(AttributeVisitor& visitor) { forward.fields(visitor); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part) { forward.restrictTo(part); }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
