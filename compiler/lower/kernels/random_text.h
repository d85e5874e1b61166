// Philox words as CUDA text, for dropout and randomUniform: those of ir/graph/rules/dropout_mask.h.
#pragma once

#include "ir/graph/rules/place_in_whole.h"

#include <string>

namespace dfc::cuda {

/// Defines `Words drawn(u64 group, u64 step)`: the words of elements 4 group, …, 4 group + 3.
std::string randomWordsText(int64_t seed);
/// Statements that add to `place` the flat index in the unsplit tensor of flat index `rest` in a shard of
/// this shape.
std::string placeText(const TensorPart& part, const Shape& shape);
/// Whether the elements of a part lie in the whole one after the other, from a multiple of 4 on.
bool drawsWholeBlocks(const TensorPart& part, const Shape& shape);

} // namespace dfc::cuda
