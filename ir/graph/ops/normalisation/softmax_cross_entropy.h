// softmaxCrossEntropy(logits, labels): mean over rows of -logSoftmax(logits)[row, label] (ONNX
// SoftmaxCrossEntropyLoss). logits: [n, classes] of a float; labels: [n] of i32 or i64, each within [0,
// classes); a label outside gives NaN. The result is a scalar.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct SoftmaxCrossEntropy : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
