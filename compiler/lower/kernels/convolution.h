// Convolutions as products of matrices, a product for each group: what the files that write their kernels
// share.
#pragma once

#include "compiler/lower/kernels/windows.h"

namespace dfc::cuda {

/// For each group a product [rows, inner] [inner, columns].
struct ProductShape {
  enum class Pass : uint8_t { Forward, InputGradient, FilterGradient };
  Pass pass = Pass::Forward;
  Convolution conv;
  int64_t rows = 0, columns = 0, inner = 0;
};

/// Index, Real, Element, rows, columns, inner, groups and the functions leftAt, rightAt, placeOf and
/// fusedSum. `most`: of the numbers that are counted to besides.
std::string productText(const ProductShape& shape, ElementType element, int64_t most);

} // namespace dfc::cuda
