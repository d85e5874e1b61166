// What the experiments with B3's net share.
#pragma once

#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/net.h"

namespace dfc::bench {

/// Adds the row `key`, where it is wanted: one training step, steps back to back.
void timeTraining(Stage& stage, const std::string& key, const std::string& what, const NetSpec& spec,
                  bool tf32);

} // namespace dfc::bench
