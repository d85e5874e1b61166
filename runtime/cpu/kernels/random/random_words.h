// RandomWords: the random bits of the elements of a tensor, or of a part of one, a tile at a time
// (ir/graph/rules/dropout_mask.h).
#pragma once

#include "ir/graph/rules/place_in_whole.h"
#include "runtime/cpu/kernels/tiles/dropout_tiles.h"

namespace dfc {

class RandomWords {
 public:
  RandomWords(int64_t seed, const Shape& shape, const TensorPart& part)
      : functions_(dropoutFunctions()), shape_(shape), part_(part), run_(part.contiguous(shape)),
        seed_(static_cast<uint64_t>(seed)) {}

  /// The words of elements first, …, first + count - 1; `first` is a multiple of tileElements, `count` at
  /// most as much. `words` and `spare` have room for tileElements.
  void draw(uint64_t step, int64_t first, int64_t count, uint32_t* words, uint32_t* spare) const;

 private:
  DropoutFunctions functions_;
  Shape shape_;
  TensorPart part_;
  int64_t run_; // length of the runs that are contiguous in the whole tensor
  uint64_t seed_;
};

} // namespace dfc
