// B2: a thousand tiny additions: as steps with a barrier after each and without, as one plan in which each
// needs the one before, and as one plan of independent ones on one queue and on several.
#include "ir/plan/executable_parts.h"
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/adds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

Sampling sampling(const Stage& stage) {
  Sampling result = stage.longSteps();
  result.steps = std::max(result.steps, stage.quick() ? 1U : 5U);
  return result;
}

/// One addition is a step; the time is of all of them.
void stepByStep(Stage& stage, bool barrier) {
  const int count = stage.sizes().adds;
  const std::string what =
      fmt::format("{} steps of one add, {}", count, barrier ? "waiting for each" : "waiting once at the end");
  stage.attempt(barrier ? "B2/barrier" : "B2/steps", what, [&](Row& row) -> Status {
    const auto act = stage.prepare(dependentAdds(stage.gpus()[0], 1));
    if (!act) {
      return act.errors();
    }
    Sampling one = stage.longSteps();
    one.steps = barrier ? 1 : static_cast<uint32_t>(count);
    one.samples = barrier ? one.samples * static_cast<uint32_t>(count) : one.samples;
    const Spread step = timeSteps(*act, one);
    row.time = Spread{step.median * count, step.least * count, step.most * count, step.samples};
    row.predicted = act->plan->schedule().makespan * count;
    return success();
  });
}

void onePlan(Stage& stage, const std::string& key, const std::string& what, const Result<Graph>& graph,
             const Variation& variation) {
  stage.attempt(key, what, [&](Row& row) -> Status {
    const auto act = stage.prepare(graph, variation);
    if (!act) {
      return act.errors();
    }
    measureSteps(*act, sampling(stage), row);
    return success();
  });
}

Variation withQueues(const Stage& stage, int queues) {
  Variation variation;
  variation.skipPasses = {"share_common_ops"}; // equal additions are what the experiment is about
  variation.machine = stage.machine();
  variation.machine->devices[variation.machine->findDevice(stage.gpus()[0])].computeQueues =
      static_cast<uint32_t>(queues);
  return variation;
}

void independent(Stage& stage, int queues) {
  const std::string key = fmt::format("B2/independent/{}", queues);
  if (stage.wants(key)) {
    onePlan(stage, key,
            fmt::format("{} independent adds in one plan, {} compute queue{}", stage.sizes().adds, queues,
                        queues == 1 ? "" : "s"),
            independentAdds(stage.gpus()[0], stage.sizes().adds), withQueues(stage, queues));
  }
}

void holdAgainst(Stage& stage, const std::string& key, const std::string& other, const std::string& what) {
  const auto seconds = stage.report().seconds(other);
  for (Row& row : stage.report().rows()) {
    if (row.key == key && row.time && seconds) {
      row.checks.push_back(against(row, what, *seconds));
    }
  }
}

} // namespace

void manyAdds(Stage& stage) {
  if (stage.gpus().empty()) {
    return stage.lacking("B2", "many tiny adds", "the machine has no GPU");
  }
  if (stage.wants("B2/barrier")) {
    stepByStep(stage, true);
  }
  if (stage.wants("B2/steps")) {
    stepByStep(stage, false);
    holdAgainst(stage, "B2/steps", "B2/barrier", "a barrier after each");
  }
  if (stage.wants("B2/dependent")) {
    onePlan(stage, "B2/dependent", fmt::format("{} dependent unfused adds in one plan", stage.sizes().adds),
            dependentAdds(stage.gpus()[0], stage.sizes().adds), withQueues(stage, 1));
  }
  if (stage.realGpus() && stage.wants("B2/dependent/apart")) {
    Variation apart = withQueues(stage, 1);
    apart.mergeLaunches = false;
    onePlan(stage, "B2/dependent/apart",
            fmt::format("{} dependent unfused adds in one plan, a launch each", stage.sizes().adds),
            dependentAdds(stage.gpus()[0], stage.sizes().adds), apart);
  }
  independent(stage, 1);
  for (const int queues : stage.sizes().queues) {
    independent(stage, queues);
    holdAgainst(stage, fmt::format("B2/independent/{}", queues), "B2/independent/1", "one queue");
  }
}

} // namespace dfc::bench
