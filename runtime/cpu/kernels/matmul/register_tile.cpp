// f64 with Highway's fused multiply-add (two roundings where the processor has none); unsigned words with
// plain loops of constant length, which the compiler unrolls into vectors.
#include "runtime/cpu/kernels/matmul/register_tile.h"
#include "runtime/cpu/kernels/tiles/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/matmul/register_tile.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A row of the tile in two vectors, kept in registers over the whole inner extent.
template <class D>
struct TileRow {
  hn::Vec<D> left, right;

  HWY_INLINE void load(D d, const double* from) {
    left = hn::LoadU(d, from);
    right = hn::LoadU(d, from + hn::Lanes(d));
  }
  HWY_INLINE void add(D d, const double* a, hn::Vec<D> bLeft, hn::Vec<D> bRight) {
    const auto factor = hn::Set(d, *a);
    left = hn::MulAdd(factor, bLeft, left);
    right = hn::MulAdd(factor, bRight, right);
  }
  HWY_INLINE void store(D d, double* to) const {
    hn::StoreU(left, d, to);
    hn::StoreU(right, d, to + hn::Lanes(d));
  }
};

void multiplyDoubles(int64_t inner, const double* a, const double* b, double* tile) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  const size_t columns = 2 * lanes;
  TileRow<decltype(d)> r0, r1, r2, r3, r4, r5; // by name: some vector types fit in no array
  r0.load(d, tile);
  r1.load(d, tile + columns);
  r2.load(d, tile + 2 * columns);
  r3.load(d, tile + 3 * columns);
  r4.load(d, tile + 4 * columns);
  r5.load(d, tile + 5 * columns);
  for (int64_t k = 0; k < inner; ++k, a += RegisterTile<double>::rows, b += columns) {
    const auto bLeft = hn::LoadU(d, b);
    const auto bRight = hn::LoadU(d, b + lanes);
    r0.add(d, a, bLeft, bRight);
    r1.add(d, a + 1, bLeft, bRight);
    r2.add(d, a + 2, bLeft, bRight);
    r3.add(d, a + 3, bLeft, bRight);
    r4.add(d, a + 4, bLeft, bRight);
    r5.add(d, a + 5, bLeft, bRight);
  }
  r0.store(d, tile);
  r1.store(d, tile + columns);
  r2.store(d, tile + 2 * columns);
  r3.store(d, tile + 3 * columns);
  r4.store(d, tile + 4 * columns);
  r5.store(d, tile + 5 * columns);
}

template <class Word, int64_t columns>
void multiplyWords(int64_t inner, const Word* a, const Word* b, Word* tile) {
  constexpr int64_t rows = RegisterTile<Word>::rows;
  for (int64_t row = 0; row < rows; ++row) {
    Word sums[columns];
    for (int64_t column = 0; column < columns; ++column) {
      sums[column] = tile[row * columns + column];
    }
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t column = 0; column < columns; ++column) {
        sums[column] += a[k * rows + row] * b[k * columns + column];
      }
    }
    for (int64_t column = 0; column < columns; ++column) {
      tile[row * columns + column] = sums[column];
    }
  }
}

RegisterTile<double> chooseDoubleTile() {
  return {static_cast<int64_t>(2 * hn::Lanes(hn::ScalableTag<double>())), multiplyDoubles};
}
RegisterTile<uint32_t> chooseWord32Tile() { return {32, multiplyWords<uint32_t, 32>}; }
RegisterTile<uint64_t> chooseWord64Tile() { return {16, multiplyWords<uint64_t, 16>}; }

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseDoubleTile);
HWY_EXPORT(chooseWord32Tile);
HWY_EXPORT(chooseWord64Tile);

RegisterTile<double> doubleTile() { return HWY_DYNAMIC_DISPATCH(chooseDoubleTile)(); }
RegisterTile<uint32_t> word32Tile() { return HWY_DYNAMIC_DISPATCH(chooseWord32Tile)(); }
RegisterTile<uint64_t> word64Tile() { return HWY_DYNAMIC_DISPATCH(chooseWord64Tile)(); }

} // namespace dfc
#endif
