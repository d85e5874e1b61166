// Small products against plain double loops: all four forms, strides, and sizes around those of vectors.
#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/matmul/small_product.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <cmath>

namespace dfc::testing {
namespace {

void checkSmall(const BlockMatmul& shape) {
  const int64_t aRows = shape.transposeA ? shape.inner : shape.rows;
  const int64_t bRows = shape.transposeB ? shape.columns : shape.inner;
  const Literal a = randomLiteral({ElementType::F32, {aRows, shape.aStride}}, 61, -1, 1);
  const Literal b = randomLiteral({ElementType::F32, {bRows, shape.bStride}}, 62, -1, 1);
  const float untouched = 77;
  std::vector<float> c(static_cast<size_t>(shape.rows * shape.cStride), untouched);
  AlignedBuffer scratch(smallProductScratch(shape) + 64);
  REQUIRE(isSmall(shape));
  smallProduct(shape, reinterpret_cast<const float*>(a.bytes().data()),
               reinterpret_cast<const float*>(b.bytes().data()), c.data(), scratch.data());
  bool good = true;
  for (int64_t row = 0; row < shape.rows; ++row) {
    for (int64_t column = 0; column < shape.cStride; ++column) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; column < shape.columns && k < shape.inner; ++k) {
        const double term = a.at(shape.transposeA ? k * shape.aStride + row : row * shape.aStride + k) *
                            b.at(shape.transposeB ? column * shape.bStride + k : k * shape.bStride + column);
        sum += term;
        magnitude += std::fabs(term);
      }
      const double got = c[static_cast<size_t>(row * shape.cStride + column)];
      good = good && (column >= shape.columns
                          ? got == untouched
                          : std::fabs(got - sum) <= 0x1p-24 * (double(shape.inner) + 2) * magnitude);
    }
  }
  INFO(shape.rows << " rows, " << shape.columns << " columns, " << shape.inner << " terms, transposed "
                  << shape.transposeA << shape.transposeB);
  CHECK(good);
}

} // namespace

TEST_CASE("small products agree with plain loops") {
  for (const int64_t rows : {1, 4, 7, 16}) {
    for (const int64_t columns : {1, 3, 8, 15, 16, 33, 45}) {
      for (const int64_t inner : {1, 9, 32}) {
        for (const bool transposeA : {false, true}) {
          for (const bool transposeB : {false, true}) {
            checkSmall({rows, columns, inner, (transposeA ? rows : inner) + 2,
                        (transposeB ? inner : columns) + 1, columns + 3, transposeA, transposeB});
          }
        }
      }
    }
  }
}

TEST_CASE("products of many terms are left to others") {
  CHECK(isSmall({32, 32, 32, 32, 32, 32, false, false}));
  CHECK(!isSmall({64, 64, 64, 64, 64, 64, false, false}));
}

} // namespace dfc::testing
