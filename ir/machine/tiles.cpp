#include "ir/machine/tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dfc {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Sides of the tiles that cuBLASLt's kernels have, and the most elements of a tile, whose sums a block keeps
/// in registers.
constexpr std::array sides = {32.0, 64.0, 128.0, 256.0};
constexpr double mostElements = 128 * 256;
/// Parts of the inner dimension, and the least elements of one.
constexpr std::array manyParts = {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0};
constexpr double leastPart = 256;
/// Bytes of a sum of a part: parts are added up in f32, or f64.
constexpr double sumBytes = 4;

/// What a tile has of the rate that one of any size would have.
double efficiency(double rows, double columns, double halfTile) {
  return 1 / (1 + halfTile / 2 * (1 / rows + 1 / columns));
}

double secondsInTiles(const ProductShape& product, const TileRates& rates, double rows, double columns) {
  const double part = efficiency(rows, columns, rates.halfTile) / efficiency(128, 256, rates.halfTile);
  const double tileFlops =
      2 * rows * columns * rates.multiprocessors / (rates.peak * part); // by the inner dimension
  const double tiles = product.count * std::ceil(product.rows / rows) * std::ceil(product.columns / columns);
  const double results = product.count * product.rows * product.columns * sumBytes;
  double least = infinite;
  for (const double parts : manyParts) {
    if (parts > 1 && product.inner / parts < leastPart) {
      break;
    }
    const double waves = std::ceil(tiles * parts / rates.multiprocessors);
    double seconds = waves * tileFlops * (product.inner / parts + rates.halfInner);
    if (parts > 1) {
      seconds +=
          2 * rates.launchSeconds + (rates.memoryBandwidth > 0 ? parts * results / rates.memoryBandwidth : 0);
    }
    least = std::min(least, seconds);
    if (tiles * parts >= rates.multiprocessors) {
      break; // all are busy
    }
  }
  return least;
}

double priceOf(const TileTiming& one, const TileRates& rates, double launch) {
  const double moved = rates.memoryBandwidth > 0 ? one.bytes / rates.memoryBandwidth : 0;
  return launch + std::max(tiledSeconds(one.product, rates), moved);
}

} // namespace

double tiledSeconds(const ProductShape& product, const TileRates& rates) {
  double least = infinite;
  for (const double rows : sides) {
    for (const double columns : sides) {
      if (rows * columns <= mostElements) {
        least = std::min(least, secondsInTiles(product, rates, rows, columns));
      }
    }
  }
  return least;
}

double fittedHalfTile(const std::vector<TileTiming>& timed, TileRates rates, double launch) {
  double best = 0, leastError = infinite;
  for (const double halfTile : {0, 16, 32, 48, 64, 96, 128, 192, 256, 512}) {
    rates.halfTile = halfTile;
    double error = 0;
    for (const TileTiming& one : timed) {
      error += std::abs(std::log(one.seconds / priceOf(one, rates, launch)));
    }
    if (error < leastError) {
      leastError = error;
      best = halfTile;
    }
  }
  return best;
}

} // namespace dfc
