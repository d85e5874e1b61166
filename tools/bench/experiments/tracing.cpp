// A measured trace of the MLP, with a span for each step of the schedule: its cost and its completeness.
#include "ir/plan/executable_parts.h"
#include "tools/bench/experiments/mlp_training.h"
#include "tools/bench/experiments/traced.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

Status runTraced(Harness& harness, const std::string& name, const MlpSpec& spec, bool tf32, Row& row) {
  Variation variation;
  variation.precision = tf32 ? Precision::Tf32 : Precision::Ieee;
  const auto plain = harness.prepare(trainingStep(spec), variation);
  if (!plain) {
    return plain.errors();
  }
  const double untraced = timeSteps(*plain, harness.shortSteps()).median;
  variation.trace = true;
  const auto prepared = harness.prepare(trainingStep(spec), variation);
  if (!prepared) {
    return prepared.errors();
  }
  measureSteps(*prepared, harness.shortSteps(), row);
  prepared->session->takeTrace();
  constexpr int steps = 5;
  const Trace measured = tracedSteps(*prepared, steps);
  const size_t expected = prepared->plan->schedule().steps.size() * steps;
  row.checks.push_back(against(row, "the same untraced", untraced));
  row.checks.push_back(fact("a span for each step of the plan", measured.spans.size() == expected));
  row.notes.push_back(
      fmt::format("{} spans in {} steps; --traces FOLDER keeps them", measured.spans.size(), steps));
  return keepTrace(harness, name, *prepared, measured, row);
}

void traceMlp(Harness& harness, const std::string& key, const std::string& description, const MlpSpec& spec,
              bool tf32) {
  if (harness.wants(key)) {
    const std::string name = spec.workers.size() > 1 ? "tracing-2gpu" : "tracing-1gpu";
    harness.attempt(key, description, [&](Row& row) { return runTraced(harness, name, spec, tf32, row); });
  }
}

} // namespace

void tracing(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("tracing", "MLP, traced", "the machine has no GPU");
  }
  MlpSpec spec;
  spec.batch = harness.sizes().epochBatch;
  spec.workers = {harness.gpus()[0]};
  spec.owner = harness.gpus()[0];
  traceMlp(harness, "tracing/1gpu", fmt::format("MLP, one GPU, f32, batch {}, traced", spec.batch), spec,
           false);
  if (harness.gpus().size() > 1) {
    spec.workers = {harness.gpus()[0], harness.gpus()[1]};
    spec.owner = "";
    traceMlp(harness, "tracing/2gpu",
             fmt::format("MLP, two GPUs that exchange gradients, tf32, batch {}, traced", spec.batch), spec,
             true);
  }
}

} // namespace dfc::bench
