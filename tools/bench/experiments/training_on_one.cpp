// B3 on one GPU: one training step at each batch size and precision, steps submitted back to back.
#include "tools/bench/experiments/training.h"

#include <fmt/format.h>

namespace dfc::bench {

void timeTraining(Stage& stage, const std::string& key, const std::string& what, const NetSpec& spec,
                  bool tf32) {
  if (!stage.wants(key)) {
    return;
  }
  stage.attempt(key, what, [&](Row& row) -> Status {
    Variation variation;
    variation.tf32 = tf32;
    const auto act = stage.prepare(trainingStep(spec), variation);
    if (!act) {
      return act.errors();
    }
    measureSteps(*act, stage.shortSteps(), row);
    stage.checkPrediction(row);
    row.notes.push_back(
        fmt::format("{:.3g} TFLOP/s of products", productFlops(spec) / row.time->median / 1e12));
    return success();
  });
}

void trainingOnOne(Stage& stage) {
  if (stage.gpus().empty()) {
    return stage.lacking("B3/1gpu", "B3 net on one GPU", "the machine has no GPU");
  }
  for (const std::string& precision : stage.precisions()) {
    for (const int64_t batch : stage.sizes().batches) {
      NetSpec spec;
      spec.batch = batch;
      spec.workers = {stage.gpus()[0]};
      spec.owner = stage.gpus()[0];
      timeTraining(stage, fmt::format("B3/1gpu/{}/{}", precision, batch),
                   fmt::format("B3 net, one GPU, {}, batch {}", precision, batch), spec, precision == "tf32");
    }
  }
}

} // namespace dfc::bench
