// Training: windows of the text as feeds.
#pragma once

#include "runtime/session.h"
#include "samples/06_gpt/gpt.h"
#include "samples/06_gpt/text.h"
#include "samples/data/training_loop.h"

namespace dfc::gpt {

/// Trains on windows of the text, drawn by the seed of `training`, so that the same arguments draw the same
/// ones; with `report` prints the loss some ten times.
lesson::Trained train(Session& session, const Text& text, const Sizes& sizes, const Training& training,
                      int64_t steps, bool report);

} // namespace dfc::gpt
