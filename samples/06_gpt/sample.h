// Generation: the sampling graph, fed token by token, and the draw of the next token by its logits.
#pragma once

#include "runtime/session.h"
#include "samples/06_gpt/gpt.h"

#include <random>
#include <vector>

namespace dfc::gpt {

/// A text that grows by a token a step. The session, of `samplingStep`, holds the weights and the caches.
class Sampler {
 public:
  Sampler(Session& session, const Sizes& sizes) : session_(session), sizes_(sizes) {}

  /// Appends a token, and gives the logits of the one that follows. Where the caches are full, the later half
  /// of what they hold is read again from position 0: positions are learned, so that there are no more.
  Literal append(int64_t token);

  /// `count` tokens behind `prompt`, which is not empty, each drawn from softmax(logits / temperature) over
  /// the first `tokens` of the vocabulary.
  std::vector<int64_t> generate(const std::vector<int64_t>& prompt, int64_t count, int64_t tokens,
                                double temperature, std::mt19937& random);

 private:
  Literal run(int64_t token);

  Session& session_;
  Sizes sizes_;
  std::vector<int64_t> cached_; // the tokens at positions 0, 1, … of the caches
};

} // namespace dfc::gpt
