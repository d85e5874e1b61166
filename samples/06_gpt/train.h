// The training loop: feeds, losses and time.
#pragma once

#include "runtime/session.h"
#include "samples/06_gpt/gpt.h"
#include "samples/06_gpt/text.h"

#include <vector>

namespace dfc::gpt {

/// What a training came to.
struct Trained {
  std::vector<float> losses; ///< of each step
  double secondsPerStep = 0; ///< without the first step; 0 for a single one

  /// The mean of the last `count`, which has less noise than one step's windows; of all where there are
  /// fewer.
  double lastLoss(size_t count) const;
};

/// Trains on windows of the text, drawn by the seed of `training`, so that the same arguments draw the same
/// ones; with `report` prints the loss some ten times.
Trained train(Session& session, const Text& text, const Sizes& sizes, const Training& training, int64_t steps,
              bool report);

} // namespace dfc::gpt
