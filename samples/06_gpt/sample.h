// Generation by two plans over one memory: one reads tokens that it is given, the other draws them. Their
// sessions share the weights and the caches.
#pragma once

#include "runtime/session.h"
#include "samples/06_gpt/gpt.h"

#include <vector>

namespace dfc::gpt {

/// A text that grows by a token a step. The session, of `readingStep`, holds the weights and the caches.
class Sampler {
 public:
  Sampler(Session& reader, const Sizes& sizes) : reader_(reader), sizes_(sizes) {}

  /// Appends a token, and gives the logits of the one that follows. Where the caches are full, the later half
  /// of what they hold is read again from position 0: positions are learned, so that there are no more.
  Literal append(int64_t token);

  /// `count` tokens behind `last`, which follows those that were appended. `decoder`: of `decodingStep`; it
  /// shares the reader's state.
  std::vector<int64_t> generate(Session& decoder, int64_t last, int64_t count);

 private:
  void readLaterHalf();
  void begin(Session& decoder, int64_t token) const;

  Session& reader_;
  Sizes sizes_;
  std::vector<int64_t> cached_; // the tokens at positions 0, 1, … of the caches
};

} // namespace dfc::gpt
