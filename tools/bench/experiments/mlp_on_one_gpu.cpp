// The MLP on one GPU: a training step at each batch size and precision, steps submitted back to back.
#include "tools/bench/experiments/mlp_training.h"

#include <fmt/format.h>

namespace dfc::bench {

void timeTraining(Harness& harness, const std::string& key, const std::string& description,
                  const MlpSpec& spec, bool tf32) {
  if (!harness.wants(key)) {
    return;
  }
  harness.attempt(key, description, [&](Row& row) -> Status {
    Variation variation;
    variation.precision = tf32 ? Precision::Tf32 : Precision::Ieee;
    const auto prepared = harness.prepare(trainingStep(spec), variation);
    if (!prepared) {
      return prepared.errors();
    }
    measureSteps(*prepared, harness.shortSteps(), row);
    harness.checkPrediction(row);
    row.notes.push_back(
        fmt::format("{:.3g} TFLOP/s of products", productFlops(spec) / row.time->median / 1e12));
    return success();
  });
}

void trainOnOneGpu(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("mlp_training/1gpu", "MLP on one GPU", "the machine has no GPU");
  }
  for (const std::string& precision : harness.precisions()) {
    for (const int64_t batch : harness.sizes().batches) {
      MlpSpec spec;
      spec.batch = batch;
      spec.workers = {harness.gpus()[0]};
      spec.owner = harness.gpus()[0];
      timeTraining(harness, fmt::format("mlp_training/1gpu/{}/{}", precision, batch),
                   fmt::format("MLP, one GPU, {}, batch {}", precision, batch), spec, precision == "tf32");
    }
  }
}

void mlpTraining(Harness& harness) {
  trainOnOneGpu(harness);
  trainOnTwoGpus(harness);
  trainOnAllGpus(harness);
}

} // namespace dfc::bench
