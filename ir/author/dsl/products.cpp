// Products of matrices and vectors.
#include "ir/author/dsl.h"
#include "ir/author/dsl/apply.h"

namespace dfc {

namespace {

bool isVector(const Operand& operand) {
  return operand.tensor() != nullptr && operand.tensor()->valid() && operand.tensor()->shape().rank() == 1;
}

// A vector as the row in front of a matrix, or the column behind it, and the product without that axis.
Tensor matmulOfVectors(const Operand& a, const Operand& b, Transposes transposed, Precision precision) {
  const bool row = isVector(a), column = isVector(b);
  const Tensor left = row ? reshape(a, {1, a.tensor()->shape()[0]}) : *a.tensor();
  const Tensor right = column ? reshape(b, {b.tensor()->shape()[0], 1}) : *b.tensor();
  const Tensor product = matmul({left, a.where()}, {right, b.where()},
                                {.a = transposed.a && !row, .b = transposed.b && !column}, precision);
  if (!product.valid()) {
    return product;
  }
  Dims dims(product.shape().dims().begin(), product.shape().dims().end());
  if (row) {
    dims.erase(dims.end() - 2);
  }
  if (column) {
    dims.pop_back();
  }
  return reshape({product, a.where()}, dims);
}

} // namespace

Tensor matmul(Operand a, Operand b, Transposes transposed, Precision precision) {
  if ((isVector(a) && b.tensor() != nullptr) || (isVector(b) && a.tensor() != nullptr)) {
    return matmulOfVectors(a, b, transposed, precision);
  }
  ops::Matmul attributes;
  attributes.transposeA = transposed.a;
  attributes.transposeB = transposed.b;
  attributes.precision = precision;
  return dsl::apply(attributes, {a, b});
}

Tensor quantizedMatmul(Operand a, Operand weights, Operand scales, int64_t bits) {
  ops::QuantizedMatmul attributes;
  attributes.bits = bits;
  return dsl::apply(attributes, {a, weights, scales});
}

} // namespace dfc
