// What losses are written with: their operands as tensors of one float type, and their reduction.
#pragma once

#include "ir/author/gradient_parts.h"
#include "ir/author/losses.h"

namespace dfc {

/// Predictions and targets as tensors of one float type, f32 at least, in one shape or a scalar.
struct LossPair {
  Builder* builder = nullptr;
  Tensor predictions = {}, targets = {};
  explicit operator bool() const { return predictions.valid() && targets.valid(); }
  Tensor none() const { return builder == nullptr ? Tensor() : Tensor(builder, {}); }
};
/// The operands of the loss `what`; false where they do not fit, which is reported.
LossPair lossPair(std::string_view what, const Operand& predictions, const Operand& targets);

/// The builder of the first tensor among them; null where there is none to complain in.
Builder* lossBuilder(const Operand& a, const Operand& b);
/// The first operand as a tensor of floats, widened; poisoned, and reported, where it is none.
Tensor floatsOf(Builder& builder, std::string_view what, const Operand& operand);
/// The losses of elements or rows as `reduction` says.
Tensor reducedLoss(Tensor losses, LossReduction reduction);

} // namespace dfc
