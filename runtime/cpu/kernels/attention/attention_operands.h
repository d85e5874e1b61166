// AttentionOperands: what attention and its gradient know of their operands, and how they read them.
#pragma once

#include "runtime/cpu/kernels/attention/mask_rows.h"
#include "runtime/cpu/kernels/attention/query_blocks.h"
#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/storage_converter.h"

#include <algorithm>

namespace dfc {

/// T: float or double, which everything is computed in.
template <class T>
struct AttentionOperands {
  /// `mask`: the type of the mask operand; null for none.
  AttentionOperands(const ops::Attention& op, OperandTypes operands, const TensorType* mask)
      : shape(knownAttentionShape(operands)), blocks(shape, op.causal),
        mask(mask != nullptr ? MaskRows(shape, *mask) : MaskRows()), converter(operands[0].element),
        elementBytes(byteWidth(operands[0].element)), scale(op.scaleFor(shape.width)) {}

  /// Rows [first, first + count) of an operand whose rows have `width` elements: in place, or in `buffer`.
  const T* rows(const std::byte* operand, int64_t first, int64_t count, int64_t width, T* buffer) const {
    return converter.read(operand + first * width * elementBytes, count * width, buffer);
  }
  /// The same of q, times the scale, always in `buffer`.
  void scaledQueries(const std::byte* q, int64_t first, int64_t count, T* buffer) const {
    const T* const read = rows(q, first, count, shape.width, buffer);
    if (read != buffer) {
      std::copy_n(read, count * shape.width, buffer);
    }
    math.multiply(buffer, count * shape.width, scale);
  }
  /// Elements of a buffer for the rows of a head's keys; 0 where they are read in place.
  int64_t keysInBuffer() const { return converter.inPlace() ? 0 : shape.keys; }

  AttentionShape shape;
  QueryBlocks blocks;
  MaskRows mask;
  StorageConverter<T> converter;
  int64_t elementBytes; ///< of storage
  double scale;
  RowMath<T> math;
};

} // namespace dfc
