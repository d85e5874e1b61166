// An epoch of the MLP: with a barrier after each step, with at most two steps in flight, and with all steps
// submitted at once. A bound on the steps in flight costs no time and keeps memory flat.
#include "tools/bench/experiments/mlp_training.h"

#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "runtime/steady_seconds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

struct Mode {
  const char* key;
  const char* description;
  bool barrier;
  uint32_t inFlight; ///< 0 for as many as there are steps
};
constexpr Mode modes[] = {{"mlp_epoch/barrier", "a barrier after each", true, 1},
                          {"mlp_epoch/bounded", "at most 2 in flight", false, 2},
                          {"mlp_epoch/unbounded", "unbounded", false, 0}};

void epoch(const Prepared& prepared, int steps, bool barrier) {
  for (int i = 0; i < steps; ++i) {
    prepared.step();
    if (barrier) {
      prepared.session->waitAll();
    }
  }
  prepared.session->waitAll();
}

void timeEpochs(const Prepared& prepared, const Harness& harness, const Mode& mode, Row& row) {
  const int steps = harness.sizes().epoch;
  epoch(prepared, steps, mode.barrier); // warm up
  const int64_t before = residentBytes();
  std::vector<double> seconds;
  for (uint32_t sample = 0; sample < harness.longSteps().samples; ++sample) {
    const double begin = steadySeconds();
    epoch(prepared, steps, mode.barrier);
    seconds.push_back(steadySeconds() - begin);
  }
  const int64_t growth = std::max<int64_t>(0, residentBytes() - before);
  row.time = spreadOf(std::move(seconds));
  row.predicted = prepared.plan->predictedSeconds() * steps;
  row.notes.push_back(fmt::format("host memory grew by {} in {} epochs; device memory is the plan's",
                                  humanBytes(growth), row.time->samples));
  if (!mode.barrier && mode.inFlight == 2) {
    constexpr int64_t flat = 16 << 20; // what allocators keep; a batch kept per step would be 300 MB an epoch
    row.checks.push_back(fact("memory flat", growth < flat));
  }
}

void run(Harness& harness, const Mode& mode) {
  MlpSpec spec;
  spec.batch = harness.sizes().epochBatch;
  spec.workers = {harness.gpus()[0]};
  spec.owner = harness.gpus()[0];
  const std::string description = fmt::format("an epoch of {} minibatches of {}, {}", harness.sizes().epoch,
                                              spec.batch, mode.description);
  harness.attempt(mode.key, description, [&](Row& row) -> Status {
    Variation variation;
    variation.maxInFlight = mode.inFlight == 0 ? static_cast<uint32_t>(harness.sizes().epoch) : mode.inFlight;
    const auto prepared = harness.prepare(trainingStep(spec), variation);
    if (!prepared) {
      return prepared.errors();
    }
    timeEpochs(*prepared, harness, mode, row);
    return success();
  });
}

} // namespace

void mlpEpoch(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("mlp_epoch", "an epoch of the MLP", "the machine has no GPU");
  }
  for (const Mode& mode : modes) {
    if (harness.wants(mode.key)) {
      run(harness, mode);
    }
  }
  const auto unbounded = harness.report().seconds("mlp_epoch/unbounded");
  for (Row& row : harness.report().rows()) {
    if (unbounded && row.time && row.key.starts_with("mlp_epoch/") && row.key != "mlp_epoch/unbounded") {
      row.checks.push_back(against(row, "unbounded", *unbounded));
    }
  }
}

} // namespace dfc::bench
