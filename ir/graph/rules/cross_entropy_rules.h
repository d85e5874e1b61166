// What softmaxCrossEntropy and its gradient op share: the form of logits and labels, and the price of an
// element.
#pragma once

#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// For each logit: the maximum, the difference, exp and the sum.
inline constexpr double crossEntropyFlops = 3 + expFlops;

/// Ok (without types) when operands 0 and 1 are logits f[n, classes] and labels i32 or i64 [n], with at least
/// one row and one class: a mean over no rows has no value. `rows`: of the whole, or 0.
TypeResult crossEntropyRows(OpKind kind, OperandTypes operands, int64_t rows);

} // namespace dfc
