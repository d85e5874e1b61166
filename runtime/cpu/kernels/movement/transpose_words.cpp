// A tile is as many columns wide as a vector has lanes, and four rows tall: block b of vector k holds four
// words of column 4 b + k, so that a transpose within blocks leaves a whole row of the tile in each vector.
#include "runtime/cpu/kernels/movement/transpose_words.h"
#include "runtime/cpu/kernels/tiles/simd_targets.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/movement/transpose_words.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

constexpr size_t blockWords = 4;

// Four words each of the columns k, k + 4, …: one block a column.
template <class D>
HWY_INLINE hn::Vec<D> columnsOf(D d, const uint32_t* from, int64_t stride) {
  if constexpr (hn::MaxLanes(D()) == blockWords) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr int64_t columns = hn::MaxLanes(D()) / 2;
    return hn::Combine(d, columnsOf(half, from + columns * stride, stride), columnsOf(half, from, stride));
  }
}

template <class D>
HWY_INLINE void transposeTile(D d, const uint32_t* from, int64_t fromStride, uint32_t* to, int64_t toStride) {
  const hn::RepartitionToWide<D> pairs;
  const auto column0 = columnsOf(d, from, fromStride), column1 = columnsOf(d, from + fromStride, fromStride),
             column2 = columnsOf(d, from + 2 * fromStride, fromStride),
             column3 = columnsOf(d, from + 3 * fromStride, fromStride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, column0, column1));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, column0, column1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, column2, column3));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, column2, column3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + toStride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * toStride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * toStride);
}

// Columns from `column` on in tiles as wide as D; returns the first column that is left.
template <class D>
int64_t transposeColumns(D d, const uint32_t* from, uint32_t* to, const WordMatrix& m, int64_t column) {
  constexpr auto wide = static_cast<int64_t>(hn::MaxLanes(D())), tall = static_cast<int64_t>(blockWords);
  for (; column + wide <= m.columns; column += wide) {
    const uint32_t* const in = from + column * m.fromStride;
    uint32_t* const out = to + column;
    int64_t row = 0;
    for (; row + tall <= m.rows; row += tall) {
      transposeTile(d, in + row, m.fromStride, out + row * m.toStride, m.toStride);
    }
    for (; row < m.rows; ++row) {
      for (int64_t i = 0; i < wide; ++i) {
        out[row * m.toStride + i] = in[row + i * m.fromStride];
      }
    }
  }
  return column;
}

// Returns the first column that is left.
int64_t transposeInTiles(const uint32_t* from, uint32_t* to, const WordMatrix& m) {
  const int64_t column = transposeColumns(hn::CappedTag<uint32_t, 16>(), from, to, m, 0);
  return transposeColumns(hn::CappedTag<uint32_t, blockWords>(), from, to, m, column);
}

#else

int64_t transposeInTiles(const uint32_t*, uint32_t*, const WordMatrix&) { return 0; }

#endif

void transpose(const uint32_t* from, uint32_t* to, const WordMatrix& m) {
  for (int64_t column = transposeInTiles(from, to, m); column < m.columns; ++column) {
    for (int64_t row = 0; row < m.rows; ++row) {
      to[row * m.toStride + column] = from[row + column * m.fromStride];
    }
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(transpose);

void transposeWords(const uint32_t* from, uint32_t* to, const WordMatrix& matrix) {
  HWY_DYNAMIC_DISPATCH(transpose)(from, to, matrix);
}

} // namespace dfc
#endif
