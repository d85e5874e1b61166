#include "runtime/cpu/kernels/random/random_words.h"

#include <algorithm>

namespace dfc {

// For a part, one run that is contiguous in the whole tensor after the other; a run may start inside a Philox
// block of four words.
void RandomWords::draw(uint64_t step, int64_t first, int64_t count, uint32_t* words, uint32_t* spare) const {
  if (!part_.isPart()) {
    functions_.words(seed_, step, static_cast<uint64_t>(first / 4), static_cast<size_t>((count + 3) / 4),
                     words);
    return;
  }
  for (int64_t done = 0; done < count;) {
    const int64_t at = part_.indexInWhole(shape_, first + done), skipped = at % 4;
    const int64_t here = std::min({count - done, run_ - (first + done) % run_, tileElements - 4});
    functions_.words(seed_, step, static_cast<uint64_t>(at / 4),
                     static_cast<size_t>((skipped + here + 3) / 4), spare);
    std::copy_n(spare + skipped, here, words + done);
    done += here;
  }
}

} // namespace dfc
