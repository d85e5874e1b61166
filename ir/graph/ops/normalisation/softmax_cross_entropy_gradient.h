// softmaxCrossEntropyGradient(logits, labels, cotangent): cotangent * (softmax(logits) - oneHot(labels)) / n,
// the gradient of softmaxCrossEntropy for its logits. cotangent: a scalar of the type of the loss, which is
// that of the logits, or f32 beside f16 or bf16 logits. The result has the type of the logits.
// rows: as of softmaxCrossEntropy.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct SoftmaxCrossEntropyGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{3, 3};
  int64_t rows = 0; ///< of the whole; 0: as many as there are
  void fields(AttributeVisitor& visitor) { visitor.field("rows", rows, Presence::Optional); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
