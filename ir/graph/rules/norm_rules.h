// What layerNorm, rmsNorm and their gradients share: the form of their operands.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// The type of operand 0, of the element type `result`, or what is wrong: a float with an axis `axis`, and
/// every other operand of the same element type in the shape of that axis and all after it; `epsilon` finite,
/// 0 or more.
TypeResult normTypes(OpKind kind, OperandTypes operands, int64_t axis, double epsilon,
                     NormResult result = NormResult::Unstated);

/// The types of the gradients to operand 0 and, `vectors` times, to operand 1, or what is wrong: the first
/// two operands are such a normalisation's, and the third is its cotangent, in 16 bits where its result is.
TypeResult normGradientTypes(OpKind kind, OperandTypes operands, int64_t axis, double epsilon,
                             size_t vectors);

/// layerNormGradient (`centred`) or rmsNormGradient: what their kernels are told.
struct NormGradientForm {
  int64_t axis = -1;
  double epsilon = 0;
  bool centred = false, toScale = false, toBias = false;
  size_t vectors() const { return (toScale ? 1U : 0U) + (toBias ? 1U : 0U); } ///< results after the first
};

/// A tensor of rows that are normalised.
struct NormRows {
  int64_t rows = 0, length = 0;
  NormRows(const Shape& shape,
           int64_t axis); ///< `axis` in [-rank, rank): a row is that axis and all after it
};

/// Rows are free, the axes of a row not cut, (ab_,_)->(ab_); of a gradient to scale and bias rows add up.
SplitRule normSplit(OperandTypes operands, OperandTypes results, int64_t axis);
SplitRule normGradientSplit(OperandTypes operands, OperandTypes results, int64_t axis);

} // namespace dfc
