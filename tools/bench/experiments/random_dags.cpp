// Random graphs with many dependencies: over all GPUs with several compute queues each, faster than on one
// queue of one GPU and with the same bits.
#include "ir/plan/executable_parts.h"
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/parallel.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr int ops = 60;

Variation withQueues(const Harness& harness, uint32_t queues) {
  Variation variation;
  variation.machine = harness.machine();
  for (const std::string& gpu : harness.gpus()) {
    variation.machine->devices[variation.machine->findDevice(gpu)].computeQueues = queues;
  }
  return variation;
}

struct Outcome {
  NamedLiterals results;
  double seconds = 0, predicted = 0;
};

Result<Outcome> outcomeOf(Harness& harness, const Result<Graph>& graph, const Variation& variation) {
  const auto prepared = harness.prepare(graph, variation);
  if (!prepared) {
    return prepared.errors();
  }
  Outcome outcome;
  outcome.seconds = timeSteps(*prepared, harness.longSteps()).median;
  outcome.predicted = prepared->plan->predictedSeconds();
  auto results = prepared->session->run({});
  if (!results) {
    return results.errors();
  }
  outcome.results = *std::move(results);
  return outcome;
}

Status compareAll(Harness& harness, Row& row) {
  std::vector<double> seconds;
  double sequentialSeconds = 0, parallelSeconds = 0, predicted = 0;
  int equal = 0;
  const int dags = harness.sizes().dags;
  for (int seed = 0; seed < dags; ++seed) {
    const auto graphOn = [&](const std::vector<std::string>& devices) {
      return randomDag(static_cast<uint64_t>(seed), ops, harness.sizes().dagSize, devices);
    };
    const auto sequential = outcomeOf(harness, graphOn({harness.gpus()[0]}), withQueues(harness, 1));
    const auto parallel = outcomeOf(harness, graphOn(harness.gpus()), withQueues(harness, 4));
    if (!sequential || !parallel) {
      return sequential ? parallel.errors() : sequential.errors();
    }
    equal += sequential->results == parallel->results ? 1 : 0;
    sequentialSeconds += sequential->seconds;
    parallelSeconds += parallel->seconds;
    predicted += parallel->predicted / dags;
    seconds.push_back(parallel->seconds);
  }
  row.time = spreadOf(std::move(seconds));
  row.predicted = predicted;
  row.checks.push_back(fact("bit-equal to one queue of one GPU", equal == dags, true));
  row.checks.push_back(
      {"one queue of one GPU", parallelSeconds / sequentialSeconds, harness.required(1), std::nullopt});
  return success();
}

} // namespace

void randomDags(Harness& harness) {
  const std::string description =
      fmt::format("{0} random graphs of {1} ops on {2}x{2} f32, all GPUs, 4 queues each",
                  harness.sizes().dags, ops, harness.sizes().dagSize);
  if (harness.gpus().empty()) {
    return harness.lacking("random_dags", description, "the machine has no GPU");
  }
  if (harness.wants("random_dags")) {
    harness.attempt("random_dags", description, [&](Row& row) { return compareAll(harness, row); });
  }
}

} // namespace dfc::bench
