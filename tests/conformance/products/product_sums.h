// Products of two matrices, element by element in f64: what the products of kernels are held against.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/literal.h"
#include "ir/graph/op.h"

namespace dfc::test {

/// a is [rows, inner], b is [inner, columns]; transposed ones lie the other way round.
struct ProductSizes {
  int64_t rows = 0, columns = 0, inner = 0;
  bool transposedA = false, transposedB = false;

  Shape ofA() const;
  Shape ofB() const;
  ops::Matmul matmul(ops::Precision precision) const;
};

/// An element of the product, and the sum of its terms' magnitudes.
struct TermSum {
  double value = 0, magnitude = 0;
};
TermSum sumAt(const ProductSizes& sizes, const Literal& a, const Literal& b, int64_t row, int64_t column);

} // namespace dfc::test
