// A thousand tiny additions. stepwise_adds: a step each, with a barrier after each step and without.
// dependent_adds: one plan in which each addition needs the one before. independent_adds: one plan of
// independent ones, on one compute queue and on several.
#include "ir/plan/executable_parts.h"
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/adds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

Sampling sampling(const Harness& harness) {
  Sampling result = harness.longSteps();
  result.steps = std::max(result.steps, harness.quick() ? 1U : 5U);
  return result;
}

/// One addition is a step; the time is of all of them.
void stepByStep(Harness& harness, bool barrier) {
  const int count = harness.sizes().adds;
  const std::string description =
      fmt::format("{} steps of one add, {}", count, barrier ? "waiting for each" : "waiting once at the end");
  harness.attempt(
      barrier ? "stepwise_adds/barrier" : "stepwise_adds/back_to_back", description, [&](Row& row) -> Status {
        const auto prepared = harness.prepare(dependentAdds(harness.gpus()[0], 1));
        if (!prepared) {
          return prepared.errors();
        }
        Sampling one = harness.longSteps();
        one.steps = barrier ? 1 : static_cast<uint32_t>(count);
        one.samples = barrier ? one.samples * static_cast<uint32_t>(count) : one.samples;
        const Spread step = timeSteps(*prepared, one);
        row.time = Spread{step.median * count, step.least * count, step.most * count, step.samples};
        row.predicted = prepared->plan->predictedSeconds() * count;
        return success();
      });
}

void onePlan(Harness& harness, const std::string& key, const std::string& description,
             const Result<Graph>& graph, const Variation& variation) {
  harness.attempt(key, description, [&](Row& row) -> Status {
    const auto prepared = harness.prepare(graph, variation);
    if (!prepared) {
      return prepared.errors();
    }
    measureSteps(*prepared, sampling(harness), row);
    return success();
  });
}

Variation withQueues(const Harness& harness, int queues) {
  Variation variation;
  variation.skipPasses = {"share_common_ops"}; // all additions are equal
  variation.machine = harness.machine();
  variation.machine->devices[variation.machine->findDevice(harness.gpus()[0])].computeQueues =
      static_cast<uint32_t>(queues);
  return variation;
}

void onQueues(Harness& harness, int queues) {
  const std::string key = fmt::format("independent_adds/{}", queues);
  if (harness.wants(key)) {
    onePlan(harness, key,
            fmt::format("{} independent adds in one plan, {} compute queue{}", harness.sizes().adds, queues,
                        queues == 1 ? "" : "s"),
            independentAdds(harness.gpus()[0], harness.sizes().adds), withQueues(harness, queues));
  }
}

void holdAgainst(Harness& harness, const std::string& key, const std::string& other,
                 const std::string& description) {
  const auto seconds = harness.report().seconds(other);
  for (Row& row : harness.report().rows()) {
    if (row.key == key && row.time && seconds) {
      row.checks.push_back(against(row, description, *seconds));
    }
  }
}

} // namespace

void stepwiseAdds(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("stepwise_adds", "tiny additions, a step each", "the machine has no GPU");
  }
  if (harness.wants("stepwise_adds/barrier")) {
    stepByStep(harness, true);
  }
  if (harness.wants("stepwise_adds/back_to_back")) {
    stepByStep(harness, false);
    holdAgainst(harness, "stepwise_adds/back_to_back", "stepwise_adds/barrier", "a barrier after each");
  }
}

void dependentAdds(Harness& harness) {
  const int adds = harness.sizes().adds;
  const std::string description = fmt::format("{} dependent unfused adds in one plan", adds);
  if (harness.gpus().empty()) {
    return harness.lacking("dependent_adds", description, "the machine has no GPU");
  }
  const Result<Graph> graph = dependentAdds(harness.gpus()[0], adds);
  if (harness.wants("dependent_adds")) {
    onePlan(harness, "dependent_adds", description, graph, withQueues(harness, 1));
  }
  if (harness.realGpus() && harness.wants("dependent_adds/unmerged")) {
    Variation unmerged = withQueues(harness, 1);
    unmerged.mergeLaunches = false;
    onePlan(harness, "dependent_adds/unmerged", description + ", a launch each", graph, unmerged);
  }
}

void independentAdds(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("independent_adds", "independent tiny additions, one plan",
                           "the machine has no GPU");
  }
  onQueues(harness, 1);
  for (const int queues : harness.sizes().queues) {
    onQueues(harness, queues);
    holdAgainst(harness, fmt::format("independent_adds/{}", queues), "independent_adds/1", "one queue");
  }
}

} // namespace dfc::bench
