// ProductShape: the matrix products that a matmul-like op is, for its price.
#pragma once

#include "ir/graph/tensor_type.h"

namespace dfc {

/// `count` products of rows x inner and inner x columns; doubles, since shapes may be of any size.
struct ProductShape {
  double rows = 0, columns = 0; ///< 0: only the inner dimension is known, or none
  double inner = 0;             ///< terms of the sum in an element of the result; 0: no product
  double count = 1;
  bool windows = false; ///< of a convolution with windows of more than a pixel
  bool strided = false; ///< of matrices in neither of which the inner dimension is contiguous

  /// Whether a library's product or convolution may compute it.
  bool hasResult() const { return rows > 0 && columns > 0 && inner > 0 && count > 0; }
};

/// Of a result [..., rows, columns], whose axes before are those of the batch. `transposeA`, `transposeB`: of
/// the product's operands.
inline ProductShape productShape(const Shape& result, int64_t inner, bool transposeA, bool transposeB) {
  const size_t rank = result.rank();
  ProductShape product{static_cast<double>(result[rank - 2]), static_cast<double>(result[rank - 1]),
                       static_cast<double>(inner), 1};
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    product.count *= static_cast<double>(result[axis]);
  }
  product.strided = transposeA && product.rows > 1 && !transposeB && product.columns > 1;
  return product;
}

} // namespace dfc
