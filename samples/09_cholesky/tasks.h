// The four tasks of the tiled Cholesky factorisation, as functions of the host that custom ops call.
#pragma once

#include "ir/graph/custom_function.h"

namespace dfc::lesson {

/// potrf, trsm, syrk and gemm on square tiles of f64, by name; they refuse other types before the first step.
CustomFunctions tileFunctions();

/// The lower factor L of a symmetric positive definite matrix a = L·Lᵀ of `size` rows, row by row; 0 above
/// the diagonal.
std::vector<double> plainCholesky(std::vector<double> a, size_t size);

} // namespace dfc::lesson
