// Sums stay in registers: a tile of rows and vectors of a result, or of rows and rows of dot products. Its
// size is what sixteen registers hold, and each is computed by a function of its own. Tiles of one call are
// about equally large, as few sums would wait for the latency of an addition.
#include "runtime/cpu/kernels/windows/plane_products.h"

#include "runtime/cpu/kernels/tiles/simd_targets.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/windows/plane_products.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Lanes = hn::CappedTag<T, 64 / sizeof(T)>;

template <class T>
int64_t lanesOf() {
  return static_cast<int64_t>(hn::Lanes(Lanes<T>()));
}

template <class T>
struct WeightedTile {
  const PlaneRowsAt<T>& of;
  const T* weights;
  int64_t weightStride;
  T* result;
  int64_t resultStride;
};

template <int rows, int vectors, class T>
void weightedTile(const WeightedTile<T>& tile, int64_t at) {
  const Lanes<T> d;
  const int64_t lanes = lanesOf<T>();
  hn::Vec<Lanes<T>> sums[rows][vectors];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      sums[r][v] = hn::Zero(d);
    }
  }
  const T* weights = tile.weights;
  for (const int64_t offset : tile.of.offsets) {
    const T* const from = tile.of.planes + offset + at;
    if constexpr (rows <= vectors) {
      hn::Vec<Lanes<T>> factors[rows];
      for (int r = 0; r < rows; ++r) {
        factors[r] = hn::Set(d, weights[r]);
      }
      for (int v = 0; v < vectors; ++v) {
        const auto x = hn::LoadU(d, from + v * lanes);
        for (int r = 0; r < rows; ++r) {
          sums[r][v] = hn::MulAdd(factors[r], x, sums[r][v]);
        }
      }
    } else {
      hn::Vec<Lanes<T>> x[vectors];
      for (int v = 0; v < vectors; ++v) {
        x[v] = hn::LoadU(d, from + v * lanes);
      }
      for (int r = 0; r < rows; ++r) {
        const auto factor = hn::Set(d, weights[r]);
        for (int v = 0; v < vectors; ++v) {
          sums[r][v] = hn::MulAdd(factor, x[v], sums[r][v]);
        }
      }
    }
    weights += tile.weightStride;
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      hn::StoreU(sums[r][v], d, tile.result + r * tile.resultStride + at + v * lanes);
    }
  }
}

// With `wanted` vectors, of at most `vectors`.
template <int rows, int vectors, class T>
void weightedTileOf(int64_t wanted, const WeightedTile<T>& tile, int64_t at) {
  if (wanted == vectors) {
    weightedTile<rows, vectors>(tile, at);
  } else if constexpr (vectors > 1) {
    weightedTileOf<rows, vectors - 1>(wanted, tile, at);
  }
}

// The vectors of all columns, in tiles of at most `most`.
template <int rows, int most, class T>
void weightedRows(const WeightedTile<T>& tile) {
  const int64_t lanes = lanesOf<T>(), vectors = (tile.of.length + lanes - 1) / lanes;
  const int64_t tiles = (vectors + most - 1) / most;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t begin = i * vectors / tiles, end = (i + 1) * vectors / tiles;
    weightedTileOf<rows, most>(end - begin, tile, begin * lanes);
  }
}

template <class T>
void weighted(const PlaneRowsAt<T>& of, const T* weights, int64_t rows, T* result, int64_t resultStride) {
  for (int64_t row = 0; row < rows;) {
    const WeightedTile<T> tile{of, weights + row, rows, result + row * resultStride, resultStride};
    if (rows - row >= 4) {
      weightedRows<4, 3>(tile);
      row += 4;
    } else if (rows - row >= 2) {
      weightedRows<2, 6>(tile);
      row += 2;
    } else {
      weightedRows<1, 8>(tile);
      row += 1;
    }
  }
}

template <class T>
struct DotTile {
  const PlaneRowsAt<T>& of;
  const T* others;
  int64_t othersStride;
  T* sums;
  int64_t sumStride; // of a row of sums
};

template <int rows, int count, class T>
void dotTile(const DotTile<T>& tile, int64_t first) {
  const Lanes<T> d;
  const int64_t lanes = lanesOf<T>();
  hn::Vec<Lanes<T>> sums[rows][count];
  const T* from[count];
  for (int k = 0; k < count; ++k) {
    from[k] = tile.of.planes + tile.of.offsets[static_cast<size_t>(first + k)];
    for (int r = 0; r < rows; ++r) {
      sums[r][k] = hn::LoadU(d, tile.sums + r * tile.sumStride + (first + k) * partialSumLanes<T>);
    }
  }
  for (int64_t at = 0; at < tile.of.length; at += lanes) {
    hn::Vec<Lanes<T>> others[rows];
    for (int r = 0; r < rows; ++r) {
      others[r] = hn::LoadU(d, tile.others + r * tile.othersStride + at);
    }
    for (int k = 0; k < count; ++k) {
      const auto x = hn::LoadU(d, from[k] + at);
      for (int r = 0; r < rows; ++r) {
        sums[r][k] = hn::MulAdd(others[r], x, sums[r][k]);
      }
    }
  }
  for (int k = 0; k < count; ++k) {
    for (int r = 0; r < rows; ++r) {
      hn::StoreU(sums[r][k], d, tile.sums + r * tile.sumStride + (first + k) * partialSumLanes<T>);
    }
  }
}

template <int rows, int count, class T>
void dotTileOf(int64_t wanted, const DotTile<T>& tile, int64_t first) {
  if (wanted == count) {
    dotTile<rows, count>(tile, first);
  } else if constexpr (count > 1) {
    dotTileOf<rows, count - 1>(wanted, tile, first);
  }
}

template <int rows, int most, class T>
void dotRows(const DotTile<T>& tile) {
  const auto count = static_cast<int64_t>(tile.of.offsets.size());
  const int64_t tiles = (count + most - 1) / most;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t first = i * count / tiles, end = (i + 1) * count / tiles;
    dotTileOf<rows, most>(end - first, tile, first);
  }
}

template <class T>
void dots(const PlaneRowsAt<T>& of, const T* others, int64_t rows, int64_t othersStride, T* partialSums) {
  const int64_t sumStride = static_cast<int64_t>(of.offsets.size()) * partialSumLanes<T>;
  for (int64_t row = 0; row < rows;) {
    const DotTile<T> tile{of, others + row * othersStride, othersStride, partialSums + row * sumStride,
                          sumStride};
    if (rows - row >= 2) {
      dotRows<2, 6>(tile);
      row += 2;
    } else {
      dotRows<1, 10>(tile);
      row += 1;
    }
  }
}

void weightedFloats(const PlaneRowsAt<float>& of, const float* weights, int64_t rows, float* result,
                    int64_t resultStride) {
  weighted(of, weights, rows, result, resultStride);
}
void weightedDoubles(const PlaneRowsAt<double>& of, const double* weights, int64_t rows, double* result,
                     int64_t resultStride) {
  weighted(of, weights, rows, result, resultStride);
}
void dotsOfFloats(const PlaneRowsAt<float>& of, const float* others, int64_t rows, int64_t othersStride,
                  float* partialSums) {
  dots(of, others, rows, othersStride, partialSums);
}
void dotsOfDoubles(const PlaneRowsAt<double>& of, const double* others, int64_t rows, int64_t othersStride,
                   double* partialSums) {
  dots(of, others, rows, othersStride, partialSums);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(weightedFloats);
HWY_EXPORT(weightedDoubles);
HWY_EXPORT(dotsOfFloats);
HWY_EXPORT(dotsOfDoubles);

template <>
void weightedSums(const PlaneRowsAt<float>& of, const float* weights, int64_t rows, float* result,
                  int64_t resultStride) {
  HWY_DYNAMIC_DISPATCH(weightedFloats)(of, weights, rows, result, resultStride);
}
template <>
void weightedSums(const PlaneRowsAt<double>& of, const double* weights, int64_t rows, double* result,
                  int64_t resultStride) {
  HWY_DYNAMIC_DISPATCH(weightedDoubles)(of, weights, rows, result, resultStride);
}
template <>
void addDotProducts(const PlaneRowsAt<float>& of, const float* others, int64_t rows, int64_t othersStride,
                    float* partialSums) {
  HWY_DYNAMIC_DISPATCH(dotsOfFloats)(of, others, rows, othersStride, partialSums);
}
template <>
void addDotProducts(const PlaneRowsAt<double>& of, const double* others, int64_t rows, int64_t othersStride,
                    double* partialSums) {
  HWY_DYNAMIC_DISPATCH(dotsOfDoubles)(of, others, rows, othersStride, partialSums);
}

} // namespace dfc
#endif
