// Einstein's notation: which axes of the operands stand side by side, which are summed, and the products that
// this comes to.
#pragma once

#include "ir/author/builder.h"

#include <string>
#include <string_view>
#include <vector>

namespace dfc {

/// Sums of products of the operands' elements, as `equation` names their axes (NumPy's einsum): two operands
/// at a time, by transposes and a matmul where letters are summed, by a broadcast product otherwise. On a
/// mistake in the equation an empty Tensor, and `fault` says which.
Tensor einsumOrFault(Builder& builder, std::string_view equation, const std::vector<Tensor>& operands,
                     std::string& fault);

} // namespace dfc
