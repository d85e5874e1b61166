// B3 as the book has it: an epoch of 150 minibatches of 1024, with a barrier after each, with two in flight,
// and with all of them submitted at once. Bounding costs no time and keeps memory flat.
#include "tools/bench/experiments/training.h"

#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "runtime/steady_seconds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

struct Mode {
  const char* key;
  const char* what;
  bool barrier;
  uint32_t inFlight; ///< 0 for as many as there are steps
};
constexpr Mode modes[] = {{"B3/epoch/barrier", "a barrier after each", true, 1},
                          {"B3/epoch/bounded", "at most 2 in flight", false, 2},
                          {"B3/epoch/unbounded", "unbounded", false, 0}};

void epoch(const Prepared& act, int steps, bool barrier) {
  for (int i = 0; i < steps; ++i) {
    act.step();
    if (barrier) {
      act.session->waitAll();
    }
  }
  act.session->waitAll();
}

void timeEpochs(const Prepared& act, const Stage& stage, const Mode& mode, Row& row) {
  const int steps = stage.sizes().epoch;
  epoch(act, steps, mode.barrier); // warm up
  const int64_t before = residentBytes();
  std::vector<double> seconds;
  for (uint32_t sample = 0; sample < stage.longSteps().samples; ++sample) {
    const double begin = steadySeconds();
    epoch(act, steps, mode.barrier);
    seconds.push_back(steadySeconds() - begin);
  }
  const int64_t growth = std::max<int64_t>(0, residentBytes() - before);
  row.time = spreadOf(std::move(seconds));
  row.predicted = act.plan->schedule().makespan * steps;
  row.notes.push_back(fmt::format("host memory grew by {} in {} epochs; device memory is the plan's",
                                  humanBytes(growth), row.time->samples));
  if (!mode.barrier && mode.inFlight == 2) {
    constexpr int64_t flat = 16 << 20; // what allocators keep; a batch kept per step would be 300 MB an epoch
    row.checks.push_back(fact("memory flat", growth < flat));
  }
}

void run(Stage& stage, const Mode& mode) {
  NetSpec spec;
  spec.batch = stage.sizes().epochBatch;
  spec.workers = {stage.gpus()[0]};
  spec.owner = stage.gpus()[0];
  const std::string what =
      fmt::format("an epoch of {} minibatches of {}, {}", stage.sizes().epoch, spec.batch, mode.what);
  stage.attempt(mode.key, what, [&](Row& row) -> Status {
    Variation variation;
    variation.maxInFlight = mode.inFlight == 0 ? static_cast<uint32_t>(stage.sizes().epoch) : mode.inFlight;
    const auto act = stage.prepare(trainingStep(spec), variation);
    if (!act) {
      return act.errors();
    }
    timeEpochs(*act, stage, mode, row);
    return success();
  });
}

} // namespace

void trainingEpochs(Stage& stage) {
  if (stage.gpus().empty()) {
    return stage.lacking("B3/epoch", "B3's epoch", "the machine has no GPU");
  }
  for (const Mode& mode : modes) {
    if (stage.wants(mode.key)) {
      run(stage, mode);
    }
  }
  const auto unbounded = stage.report().seconds("B3/epoch/unbounded");
  for (Row& row : stage.report().rows()) {
    if (unbounded && row.time && row.key.starts_with("B3/epoch/") && row.key != "B3/epoch/unbounded") {
      row.checks.push_back(against(row, "unbounded", *unbounded));
    }
  }
}

} // namespace dfc::bench
