// See train.h.
#include "samples/06_gpt/train.h"

#include <algorithm>

namespace dfc::gpt {

lesson::Trained train(Session& session, const Text& text, const Sizes& sizes, const Training& training,
                      int64_t steps, bool report) {
  lesson::TrainingLoop loop(session, {.unit = "tokens",
                                      .perStep = training.batch * sizes.context,
                                      .reportEvery = report ? std::max<int64_t>(1, steps / 10) : 0});
  std::mt19937 random(static_cast<uint32_t>(training.seed));
  for (int64_t step = 0; step < steps; ++step) {
    loop.step({{"tokens", text.windows(training.batch, sizes.context + 1, random)}});
  }
  return loop.end();
}

} // namespace dfc::gpt
