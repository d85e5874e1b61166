// Transposes of matrices of 32-bit words: blocks of 4 by 4 within vectors. oneDNN's reorder moves word by
// word wherever neither side is blocked, at a third of the rate.
#pragma once

#include <cstdint>

namespace dfc {

/// Word (row, column) of a matrix, at from[row + column * fromStride], goes to to[row * toStride + column].
struct WordMatrix {
  int64_t rows = 0, columns = 0, fromStride = 0, toStride = 0;
};
void transposeWords(const uint32_t* from, uint32_t* to, const WordMatrix& matrix);

} // namespace dfc
