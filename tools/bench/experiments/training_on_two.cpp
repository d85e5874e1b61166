// B3 on two GPUs, each with half of the batch: with the weights on one of them, who sums and sends the new
// weights; and with weights on both, who exchange their gradients and each sum for themselves.
#include "tools/bench/experiments/training.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

void atBatch(Stage& stage, const std::string& precision, int64_t batch) {
  NetSpec spec;
  spec.batch = batch;
  spec.workers = {stage.gpus()[0], stage.gpus()[1]};
  spec.owner = stage.gpus()[0];
  const bool tf32 = precision == "tf32";
  const std::string end = fmt::format("{}/{}", precision, batch);
  const std::string what = fmt::format("B3 net, two GPUs, {}, batch {}", precision, batch);
  const std::string onOne = "B3/2gpu/" + end, exchanged = "B3/2gpu-exchange/" + end;
  timeTraining(stage, onOne, what + ", weights on one", spec, tf32);
  spec.owner = "";
  timeTraining(stage, exchanged, what + ", gradients exchanged", spec, tf32);
  if (batch == stage.sizes().largestBatch) {
    holdScaling(stage.report(), {onOne, exchanged}, "B3/1gpu/" + end, stage.required(tf32 ? 1.5 : 1.8));
  }
}

} // namespace

void trainingOnTwo(Stage& stage) {
  if (stage.gpus().size() < 2) {
    return stage.lacking("B3/2gpu", "B3 net on two GPUs", "the machine has no second GPU");
  }
  for (const std::string& precision : stage.precisions()) {
    for (const int64_t batch : stage.sizes().batches) {
      atBatch(stage, precision, batch);
    }
  }
}

} // namespace dfc::bench
