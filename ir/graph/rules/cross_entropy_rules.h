// What softmaxCrossEntropy and its gradient op share: the form of logits and labels, and the price of an
// element.
#pragma once

#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// For each logit: the maximum, the difference, exp and the sum.
inline constexpr double crossEntropyFlops = 3 + expFlops;

/// The rows that a mean is over: those of the whole that the op is a part of, or its own where `rows` is 0.
inline int64_t rowsOfWhole(int64_t rows, OperandTypes operands) {
  return rows != 0 ? rows : operands[0].shape[0];
}

/// Ok (without types) when operands 0 and 1 are logits f[n, classes] and labels i32 or i64 [n], with at least
/// one row and one class: a mean over no rows has no value. `rows`: of the whole, or 0.
TypeResult crossEntropyRows(OpKind kind, OperandTypes operands, int64_t rows);

} // namespace dfc
