// The MLP on two GPUs, each with half of the batch. With the parameters on one GPU, that GPU sums the
// gradients and sends the new parameters; with parameters on both, the GPUs exchange gradients and each sums
// them. The third way is written for one device, and dfc finds the parallelism.
#include "tools/bench/experiments/mlp_training.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

/// The row of the graph without pins, planned for both GPUs, beside that of the exchange by hand.
void findParallelism(Harness& harness, const std::string& key, const std::string& description,
                     const std::string& byHand, MlpSpec spec, bool tf32) {
  if (harness.gpus().size() > 2) {
    return; // the plan would use all
  }
  constexpr double mostOfByHand = 1.01;
  spec.workers = {""}; // no pins
  spec.owner = "";
  timeTraining(harness, key, description, spec, tf32);
  const auto exchange = harness.report().seconds(byHand);
  if (!harness.report().has(key) || !exchange) {
    return;
  }
  Row& row = harness.report().rows().back();
  if (row.time) {
    row.checks.push_back(against(row, byHand, *exchange, harness.required(mostOfByHand)));
  }
}

void atBatch(Harness& harness, const std::string& precision, int64_t batch) {
  MlpSpec spec;
  spec.batch = batch;
  spec.workers = {harness.gpus()[0], harness.gpus()[1]};
  spec.owner = harness.gpus()[0];
  const bool tf32 = precision == "tf32";
  const std::string end = fmt::format("{}/{}", precision, batch);
  const std::string description = fmt::format("MLP, two GPUs, {}, batch {}", precision, batch);
  const std::string onOne = "mlp_training/2gpu/" + end, exchanged = "mlp_training/2gpu-exchange/" + end;
  timeTraining(harness, onOne, description + ", weights on one", spec, tf32);
  spec.owner = "";
  timeTraining(harness, exchanged, description + ", gradients exchanged", spec, tf32);
  findParallelism(harness, "mlp_training/2gpu-found/" + end, description + ", written for one", exchanged,
                  spec, tf32);
  if (batch == harness.sizes().largestBatch) {
    holdScaling(harness.report(), {onOne, exchanged}, "mlp_training/1gpu/" + end,
                harness.required(tf32 ? 1.5 : 1.8));
  }
}

} // namespace

void trainOnTwoGpus(Harness& harness) {
  if (harness.gpus().size() < 2) {
    return harness.lacking("mlp_training/2gpu", "MLP on two GPUs", "the machine has no second GPU");
  }
  for (const std::string& precision : harness.precisions()) {
    for (const int64_t batch : harness.sizes().batches) {
      atBatch(harness, precision, batch);
    }
  }
}

} // namespace dfc::bench
