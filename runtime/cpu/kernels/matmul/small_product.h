// Products of matrices so small that a call of a library would take longer, as the heads of small models
// have them.
#pragma once

#include "runtime/cpu/kernels/matmul/block_matmul.h"

namespace dfc {

/// Whether `smallProduct` makes it.
bool isSmall(const BlockMatmul& shape);
/// Of `smallProduct`, aligned to 64.
size_t smallProductScratch(const BlockMatmul& shape);
/// c = a b of f32. Every element is summed in the order of the inner extent.
void smallProduct(const BlockMatmul& shape, const float* a, const float* b, float* c, std::byte* scratch);

} // namespace dfc
