// Shared by the experiments with the MLP (tools/bench/graphs/mlp.h).
#pragma once

#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/mlp.h"

namespace dfc::bench {

/// Adds the row `key`, where it is wanted: one training step, steps submitted back to back.
void timeTraining(Harness& harness, const std::string& key, const std::string& description,
                  const MlpSpec& spec, bool tf32);

/// The parts of mlp_training: rows "mlp_training/1gpu/…", "mlp_training/2gpu/…" and
/// "mlp_training/2gpu-exchange/…", "mlp_training/2gpu-found/…", "mlp_training/all-…".
void trainOnOneGpu(Harness& harness);
void trainOnTwoGpus(Harness& harness);
void trainOnAllGpus(Harness& harness);

} // namespace dfc::bench
