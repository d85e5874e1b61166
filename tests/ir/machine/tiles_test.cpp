// The price of a GPU's matrix products by tiles: waves, parts of the inner dimension, small tiles, and the
// half tile that times of products tell.
#include "ir/machine/tiles.h"

#include "ir/machine/machine.h"
#include "tests/support/catch.h"

namespace dfc::test {
namespace {

constexpr double peak = 1e12;

TileRates ratesOf(double halfTile, double multiprocessors = 100) {
  return {peak, 0, halfTile, multiprocessors, 1e-6, 0};
}

ProductShape product(double rows, double columns, double inner, double count = 1) {
  return {rows, columns, inner, count};
}

/// Part of the peak rate.
double part(const ProductShape& one, const TileRates& rates) {
  return flopsOf(one) / tiledSeconds(one, rates) / peak;
}

} // namespace

TEST_CASE("tiles: large results reach the peak, and no result more") {
  CHECK(part(product(128 * 100, 256 * 10, 512), ratesOf(64)) == Approx(1));
  for (const double side : {32, 100, 128, 500, 1000, 3000, 10000}) {
    for (const double inner : {1, 64, 1000, 100000}) {
      CAPTURE(side, inner);
      CHECK(part(product(side, side, inner), ratesOf(64)) <= 1 + 1e-9);
      CHECK(part(product(side, side, inner, 7), ratesOf(0)) <= 1 + 1e-9);
    }
  }
}

TEST_CASE("tiles: one tile more than there are multiprocessors takes a wave more") {
  const TileRates rates = ratesOf(1e6); // as good as: only the largest tiles count
  const double one = tiledSeconds(product(128 * 100, 256, 64), rates);
  CHECK(tiledSeconds(product(128 * 101, 256, 64), rates) == Approx(2 * one).epsilon(1e-3));
  CHECK(tiledSeconds(product(128 * 200, 256, 64), rates) == Approx(2 * one));
}

TEST_CASE("tiles: small results lie between few large tiles and many small ones") {
  const ProductShape small = product(512, 512, 200); // 8 tiles of 128 x 256, 256 of 32 x 32
  CHECK(part(small, ratesOf(0)) == Approx(256 / 300.0));
  CHECK(part(small, ratesOf(1e9)) ==
        Approx(64 * (1 / 128.0 + 1 / 256.0) / (1 / 64.0 + 1 / 64.0) / 100).epsilon(0.01));
  CHECK(part(small, ratesOf(64)) < part(small, ratesOf(32)));
}

TEST_CASE("tiles: a long inner dimension is divided where the parts' sums cost less") {
  const ProductShape deep = product(256, 256, 1e6);
  CHECK(part(deep, ratesOf(32)) > 0.5);
  TileRates slowMemory = ratesOf(32);
  slowMemory.memoryBandwidth = 1e3;
  CHECK(part(deep, slowMemory) == Approx(0.38)); // 64 of 100 multiprocessors, in tiles of 32 x 32
  CHECK(tiledSeconds(product(256, 256, 511), ratesOf(32)) ==
        Approx(tiledSeconds(product(256, 256, 511), slowMemory)));
}

TEST_CASE("tiles: the half tile is found again from times, within the steps that are tried") {
  for (const double halfTile : {0, 32, 64, 128}) {
    CAPTURE(halfTile);
    std::vector<TileTiming> timed;
    for (const double side : {256, 512, 768, 1024}) {
      TileTiming one{product(side, side, 2048), 0, 0};
      one.seconds = 3e-6 + tiledSeconds(one.product, ratesOf(halfTile));
      timed.push_back(one);
    }
    CHECK(fittedHalfTile(timed, ratesOf(999), 3e-6) == halfTile);
  }
  CHECK(fittedHalfTile({}, ratesOf(999), 0) == 0);
}

TEST_CASE("tiles: a GPU with a half tile prices products by tiles, a CPU or one without does not") {
  DeviceRow row;
  row.kind = DeviceKind::Gpu;
  row.peakFlops.fill(peak);
  row.multiprocessors = 100;
  row.launchSeconds = 1e-6;
  const ProductShape small = product(512, 512, 200);
  const double before = row.matmulRate(ElementType::F32, false, small);
  row.matmulHalfTile.fill(64);
  CHECK(row.matmulRate(ElementType::F32, false, small) == Approx(peak * part(small, ratesOf(64))));
  CHECK(row.matmulRate(ElementType::F32, false, small) < before);
  CHECK(row.matmulRate(ElementType::F32, false, {.inner = 200}) == peak);
  row.kind = DeviceKind::Cpu;
  CHECK(row.matmulRate(ElementType::F32, false, small) == peak);
}

} // namespace dfc::test
