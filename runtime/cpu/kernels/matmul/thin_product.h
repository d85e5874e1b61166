// Products of one to four rows with a block of keys or values, as decoding has them: each element of the
// block is read once, where a library would pack it first.
#pragma once

#include "runtime/cpu/kernels/matmul/block_matmul.h"

namespace dfc {

/// Whether `thinProduct` makes it.
bool isThin(const BlockMatmul& shape);
/// c = a b of f32. Every element is summed in an order that the inner extent alone decides.
void thinProduct(const BlockMatmul& shape, const float* a, const float* b, float* c);

} // namespace dfc
