// A9: random graphs with many dependencies: over all GPUs with several queues each, the same bits as one
// after the other on one queue of one GPU; and faster.
#include "ir/plan/executable_parts.h"
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/parallel.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr int ops = 60;

Variation withQueues(const Stage& stage, uint32_t queues) {
  Variation variation;
  variation.machine = stage.machine();
  for (const std::string& gpu : stage.gpus()) {
    variation.machine->devices[variation.machine->findDevice(gpu)].computeQueues = queues;
  }
  return variation;
}

struct Outcome {
  NamedLiterals results;
  double seconds = 0, predicted = 0;
};

Result<Outcome> outcomeOf(Stage& stage, const Result<Graph>& graph, const Variation& variation) {
  const auto act = stage.prepare(graph, variation);
  if (!act) {
    return act.errors();
  }
  Outcome outcome;
  outcome.seconds = timeSteps(*act, stage.longSteps()).median;
  outcome.predicted = act->plan->schedule().makespan;
  auto results = act->session->run({});
  if (!results) {
    return results.errors();
  }
  outcome.results = *std::move(results);
  return outcome;
}

Status compareAll(Stage& stage, Row& row) {
  std::vector<double> seconds;
  double sequentialSeconds = 0, parallelSeconds = 0, predicted = 0;
  int equal = 0;
  const int dags = stage.sizes().dags;
  for (int seed = 0; seed < dags; ++seed) {
    const auto graphOn = [&](const std::vector<std::string>& devices) {
      return randomDag(static_cast<uint64_t>(seed), ops, stage.sizes().dagSize, devices);
    };
    const auto sequential = outcomeOf(stage, graphOn({stage.gpus()[0]}), withQueues(stage, 1));
    const auto parallel = outcomeOf(stage, graphOn(stage.gpus()), withQueues(stage, 4));
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
      {"one queue of one GPU", parallelSeconds / sequentialSeconds, stage.required(1), std::nullopt});
  return success();
}

} // namespace

void randomDags(Stage& stage) {
  const std::string what = fmt::format("{0} random graphs of {1} ops on {2}x{2} f32, all GPUs, 4 queues each",
                                       stage.sizes().dags, ops, stage.sizes().dagSize);
  if (stage.gpus().empty()) {
    return stage.lacking("A9/dags", what, "the machine has no GPU");
  }
  if (stage.wants("A9/dags")) {
    stage.attempt("A9/dags", what, [&](Row& row) { return compareAll(stage, row); });
  }
}

} // namespace dfc::bench
