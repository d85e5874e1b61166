// softmaxCrossEntropy(logits, labels): mean over rows of -logSoftmax(logits)[row, label] (ONNX
// SoftmaxCrossEntropyLoss). logits: [n, classes] of a float; labels: [n] of i32 or i64, each within [0,
// classes); a label outside gives NaN. The result is a scalar of the type of the logits.
//
// softmaxCrossEntropy(logits, labels, loss=f32): the result is f32, so that the loss of f16 or bf16 logits is
// not rounded to their type (mixed precision, Micikevicius et al. 2018). rows=N: the sum over these rows is
// divided by N, the rows of the whole that they are a part of, so that the parts' losses add up to the
// whole's.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

#include <array>

namespace dfc::ops {

struct SoftmaxCrossEntropy : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};
  static constexpr std::array<std::string_view, 2> lossNames = {"unstated", "f32"};
  LossType loss = LossType::Unstated;
  int64_t rows = 0; ///< of the whole; 0: as many as there are
  void fields(AttributeVisitor& visitor) {
    auto chosen = static_cast<uint8_t>(loss);
    visitor.choice("loss", chosen, lossNames, Presence::Optional);
    loss = static_cast<LossType>(chosen);
    visitor.field("rows", rows, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
