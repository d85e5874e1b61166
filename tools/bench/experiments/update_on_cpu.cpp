// Data parallelism with parameters on the CPU: two GPUs compute gradients of half a batch each, the CPU sums
// them, updates the parameters and sends them out. The two-layer net of lesson 3, whose trace must show the
// second layer's sum, update and broadcast inside the first layer's backward pass; and the MLP at its largest
// batch.
#include "tools/bench/experiments/mlp_training.h"
#include "tools/bench/experiments/traced.h"
#include "tools/bench/graphs/two_layer.h"

#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "runtime/steady_seconds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

const std::vector<std::string> fc2OnCpu = {"fc2 sum", "fc2 update", "fc2 sum and update"},
                               fc1OnGpus = {"fc1 backward"};

/// The share of the second layer's sum, update and broadcast that overlaps with fc1's backward pass.
double hiddenShare(const Trace& trace, const Executable& plan) {
  const double all = togetherSeconds(trace, plan, {inScopes(fc2OnCpu)});
  return all > 0 ? togetherSeconds(trace, plan, {inScopes(fc2OnCpu), inScopes(fc1OnGpus)}) / all : 0;
}

void checkOverlap(const Harness& harness, const Prepared& prepared, const Trace& measured, Row& row) {
  const double planned = hiddenShare(predictedTrace(*prepared.plan), *prepared.plan);
  const double seen = hiddenShare(measured, *prepared.plan);
  row.checks.push_back(fact("fc2 on the CPU beside fc1 backward: planned", planned > 0));
  row.checks.push_back(harness.seen("at least half of it: measured", seen >= 0.5));
  row.notes.push_back(
      fmt::format("of fc2's sum, update and broadcast, {:.0f} % lie inside fc1 backward in the "
                  "plan, {:.0f} % in the measured trace",
                  100 * planned, 100 * seen));
}

std::string hostName(const Harness& harness) {
  return harness.machine().devices[harness.machine().host()].name;
}

MlpSpec mlpSpec(const Harness& harness) {
  MlpSpec spec;
  spec.batch = harness.sizes().largestBatch;
  spec.workers = {harness.gpus()[0], harness.gpus()[1]};
  spec.owner = hostName(harness);
  return spec;
}

Status traceMlp(Harness& harness, const std::string& name, Row& row) {
  Variation traced;
  traced.trace = true;
  const auto prepared = harness.prepare(trainingStep(mlpSpec(harness)), traced);
  if (!prepared) {
    return prepared.errors();
  }
  const Trace measured = tracedSteps(*prepared, 20);
  checkOverlap(harness, *prepared, measured, row);
  return keepTrace(harness, name, *prepared, measured, row);
}

void timed(Harness& harness) {
  const MlpSpec spec = mlpSpec(harness);
  const std::string description =
      fmt::format("MLP, two GPUs, parameters updated on the CPU, f32, batch {}", spec.batch);
  harness.attempt(fmt::format("update_on_cpu/mlp/{}", spec.batch), description, [&](Row& row) -> Status {
    const auto prepared = harness.prepare(trainingStep(spec));
    if (!prepared) {
      return prepared.errors();
    }
    measureSteps(*prepared, harness.shortSteps(), row);
    row.checks.push_back(against(row, "the plan's lower bound", *row.bound, harness.required(1.15)));
    harness.checkPrediction(row);
    row.notes.push_back(fmt::format("{} transfers a step", prepared->plan->placed().transfers.size()));
    return traceMlp(harness, "update_on_cpu-mlp", row);
  });
}

/// Feeds of the lesson's graph.
NamedLiterals batchOfImages() {
  Literal images(f32({TwoLayerSpec::batch, TwoLayerSpec::pixels})), labels(i64({TwoLayerSpec::batch}));
  const auto pixels = images.mutableData<float>();
  for (size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>((i * 2654435761U) % 256U) / 255.0F;
  }
  for (int64_t i = 0; i < TwoLayerSpec::batch; ++i) {
    labels.set(i, static_cast<double>(i % TwoLayerSpec::classes));
  }
  return {{"images", images}, {"labels", labels}};
}

Status runLesson(Harness& harness, Row& row) {
  Variation traced;
  traced.trace = true;
  const auto graph = trainingStep(TwoLayerSpec{hostName(harness), {harness.gpus()[0], harness.gpus()[1]}});
  const auto prepared = harness.prepare(graph, traced);
  if (!prepared) {
    return prepared.errors();
  }
  const NamedLiterals feeds = batchOfImages();
  std::vector<double> seconds;
  for (uint32_t i = 0; i < 3 + 3 * harness.longSteps().samples; ++i) {
    const double begin = steadySeconds();
    if (const auto result = prepared->session->run(feeds); !result) {
      return result.errors();
    }
    seconds.push_back(steadySeconds() - begin);
  }
  row.time = spreadOf({seconds.begin() + 3, seconds.end()});
  row.predicted = prepared->plan->schedule().makespan;
  row.bound = prepared->plan->lowerBoundSeconds();
  const Trace measured = prepared->session->takeTrace();
  checkOverlap(harness, *prepared, measured, row);
  return keepTrace(harness, "update_on_cpu-lesson", *prepared, measured, row);
}

} // namespace

void updateOnCpu(Harness& harness) {
  if (harness.gpus().size() < 2) {
    return harness.lacking("update_on_cpu", "two GPUs, parameters updated on the CPU",
                           "the machine has no second GPU");
  }
  if (harness.wants("update_on_cpu/lesson")) {
    harness.attempt("update_on_cpu/lesson",
                    "the lesson's net, fed from the host, each step waited for, traced",
                    [&](Row& row) { return runLesson(harness, row); });
  }
  if (harness.wants(fmt::format("update_on_cpu/mlp/{}", harness.sizes().largestBatch))) {
    timed(harness);
  }
}

} // namespace dfc::bench
