// A matrix product of our own for the types that oneDNN does not take: f64, i32, i64 and u8 (integers wrap).
// Packed blocks and a register tile (Goto and van de Geijn, ACM TOMS 34(3), 2008). Every element of the
// result is summed over the inner extent from first to last, independent of the blocks.
#pragma once

#include "ir/graph/tensor_type.h"

#include <cstddef>

namespace dfc {

/// c[rows, columns] = a b. Strides, in elements, from stored row to stored row.
struct BlockMatmul {
  int64_t rows = 0, columns = 0, inner = 0;
  int64_t aStride = 0, bStride = 0, cStride = 0;
  bool transposeA = false, transposeB = false;
};

/// Bytes of scratch for one caller, aligned to 64.
size_t blockMatmulScratch(ElementType type);
void blockMatmul(ElementType type, const BlockMatmul& shape, const std::byte* a, const std::byte* b,
                 std::byte* c, std::byte* scratch);

} // namespace dfc
