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
      : shape(knownAttentionShape(op, operands)), blocks(shape, op.causal),
        mask(mask != nullptr ? MaskRows(shape, *mask) : MaskRows()), converter(operands[0].element),
        elementBytes(byteWidth(operands[0].element)), scale(op.scaleFor(shape.width)) {}

  /// Rows [first, first + count) of a head, counted over all batches, each of `width` elements: in place, or
  /// in `buffer`.
  const T* rows(const std::byte* operand, const AttentionRows& of, int64_t head, int64_t first, int64_t count,
                int64_t width, T* buffer) const {
    const std::byte* const from = operand + of.at(head, first) * elementBytes;
    if (of.row == width) {
      return converter.read(from, count * width, buffer);
    }
    for (int64_t row = 0; row < count; ++row) {
      T* const to = buffer + row * width;
      const T* const read = converter.read(from + row * of.row * elementBytes, width, to);
      if (read != to) {
        std::copy_n(read, width, to);
      }
    }
    return buffer;
  }
  /// Where to compute such rows of a result: in place, or in `buffer`; `write` then stores them.
  T* place(std::byte* result, const AttentionRows& of, int64_t head, int64_t first, int64_t width,
           T* buffer) const {
    return of.row == width ? converter.place(result + of.at(head, first) * elementBytes, buffer) : buffer;
  }
  void write(const T* made, std::byte* result, const AttentionRows& of, int64_t head, int64_t first,
             int64_t count, int64_t width) const {
    std::byte* const to = result + of.at(head, first) * elementBytes;
    if (of.row == width) {
      converter.write(made, to, count * width);
      return;
    }
    for (int64_t row = 0; row < count; ++row) {
      converter.write(made + row * width, to + row * of.row * elementBytes, width);
    }
  }
  /// Of a query's logSumExp or delta, in elements.
  int64_t statisticOf(int64_t head, int64_t query) const { return shape.at.statistics.at(head, query); }

  /// The queries, times the scale, always in `buffer`.
  void scaledQueries(const std::byte* q, int64_t head, int64_t first, int64_t count, T* buffer) const {
    const T* const read = rows(q, shape.at.q, head, first, count, shape.width, buffer);
    if (read != buffer) {
      std::copy_n(read, count * shape.width, buffer);
    }
    math.multiply(buffer, count * shape.width, scale);
  }
  /// Elements of a buffer for the rows of a head's keys; 0 where they are read in place.
  int64_t keysInBuffer() const {
    const bool contiguous = shape.at.k.row == shape.width && shape.at.v.row == shape.valueWidth;
    return converter.inPlace() && contiguous ? 0 : shape.keys;
  }

  AttentionShape shape;
  QueryBlocks blocks;
  MaskRows mask;
  StorageConverter<T> converter;
  int64_t elementBytes; ///< of storage
  double scale;
  RowMath<T> math;
};

} // namespace dfc
