// See product_sums.h.
#include "tests/conformance/products/product_sums.h"

#include <cmath>

namespace dfc::test {

Shape ProductSizes::ofA() const { return transposedA ? Shape{inner, rows} : Shape{rows, inner}; }

Shape ProductSizes::ofB() const { return transposedB ? Shape{columns, inner} : Shape{inner, columns}; }

ops::Matmul ProductSizes::matmul(ops::Precision precision) const {
  ops::Matmul op;
  op.transposeA = transposedA, op.transposeB = transposedB;
  op.precision = precision;
  return op;
}

TermSum sumAt(const ProductSizes& sizes, const Literal& a, const Literal& b, int64_t row, int64_t column) {
  TermSum sum;
  for (int64_t k = 0; k < sizes.inner; ++k) {
    const double term = a.at(sizes.transposedA ? k * sizes.rows + row : row * sizes.inner + k) *
                        b.at(sizes.transposedB ? column * sizes.inner + k : k * sizes.columns + column);
    sum.value += term;
    sum.magnitude += std::fabs(term);
  }
  return sum;
}

} // namespace dfc::test
