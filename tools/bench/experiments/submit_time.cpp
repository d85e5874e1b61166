// Host time of a submit: the session returns before the step's work is done.
#include "tools/bench/experiments/mlp_training.h"

#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "runtime/steady_seconds.h"
#include "tools/bench/graphs/adds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr uint32_t atOnce = 16; ///< submits in a row, none of which waits for an earlier step

/// Seconds of each submit.
Spread submitTimes(const Prepared& prepared, uint32_t samples) {
  std::vector<double> seconds;
  for (uint32_t sample = 0; sample < samples + 2; ++sample) {
    for (uint32_t i = 0; i < atOnce; ++i) {
      const double begin = steadySeconds();
      prepared.step();
      const double taken = steadySeconds() - begin;
      if (sample >= 2) { // the first two warm up
        seconds.push_back(taken);
      }
    }
    prepared.session->waitAll();
  }
  return spreadOf(std::move(seconds));
}

void submits(Harness& harness, const std::string& key, const std::string& description,
             const Result<Graph>& graph, double mostSeconds, bool mergeLaunches = true) {
  if (!harness.wants(key)) {
    return;
  }
  harness.attempt(key, description, [&](Row& row) -> Status {
    Variation variation;
    variation.maxInFlight = atOnce;
    variation.mergeLaunches = mergeLaunches;
    const auto prepared = harness.prepare(graph, variation);
    if (!prepared) {
      return prepared.errors();
    }
    row.time = submitTimes(*prepared, harness.longSteps().samples);
    row.checks.push_back(
        against(row, humanSeconds(mostSeconds) + " of host time", mostSeconds, harness.required(1)));
    row.notes.push_back(
        fmt::format("{} in the plan", counted(prepared->plan->schedule().steps.size(), "step")));
    return success();
  });
}

MlpSpec mlpOn(const std::vector<std::string>& gpus, int64_t batch) {
  MlpSpec spec;
  spec.batch = batch;
  spec.workers = gpus;
  spec.owner = gpus.front();
  return spec;
}

} // namespace

void submitTime(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("submit_time", "host time of a submit", "the machine has no GPU");
  }
  const std::vector<std::string>& gpus = harness.gpus();
  const int64_t batch = harness.sizes().epochBatch;
  submits(harness, "submit_time/1gpu", "host time of a submit, MLP on one GPU",
          trainingStep(mlpOn({gpus[0]}, batch)), 20e-6);
  const std::string onTwo = "host time of a submit, MLP on two GPUs";
  if (gpus.size() > 1) {
    submits(harness, "submit_time/2gpu", onTwo, trainingStep(mlpOn({gpus[0], gpus[1]}, batch)), 20e-6);
  } else {
    harness.lacking("submit_time/2gpu", onTwo, "the machine has no second GPU");
  }
  const int adds = harness.sizes().adds;
  submits(harness, "submit_time/long", fmt::format("host time of a submit, plan of {} launches", adds),
          dependentAdds(gpus[0], adds), adds * 1e-6, /*mergeLaunches=*/false);
}

} // namespace dfc::bench
