// A8: what a profiler would show: a trace of B3's net with the ops by name, predicted above measured. It says
// too what tracing costs.
#include "ir/plan/executable_parts.h"
#include "tools/bench/experiments/traced.h"
#include "tools/bench/experiments/training.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

Status runTraced(Stage& stage, const std::string& name, const NetSpec& spec, bool tf32, Row& row) {
  Variation variation;
  variation.tf32 = tf32;
  const auto plain = stage.prepare(trainingStep(spec), variation);
  if (!plain) {
    return plain.errors();
  }
  const double untraced = timeSteps(*plain, stage.shortSteps()).median;
  variation.trace = true;
  const auto act = stage.prepare(trainingStep(spec), variation);
  if (!act) {
    return act.errors();
  }
  measureSteps(*act, stage.shortSteps(), row);
  act->session->takeTrace();
  constexpr int steps = 5;
  const Trace measured = tracedSteps(*act, steps);
  const size_t expected = act->plan->schedule().steps.size() * steps;
  row.checks.push_back(against(row, "the same untraced", untraced));
  row.checks.push_back(fact("a span for each step of the plan", measured.spans.size() == expected));
  row.notes.push_back(
      fmt::format("{} spans in {} steps; --traces FOLDER keeps them", measured.spans.size(), steps));
  return keepTrace(stage, name, *act, measured, row);
}

void traceNet(Stage& stage, const std::string& key, const std::string& what, const NetSpec& spec, bool tf32) {
  if (stage.wants(key)) {
    const std::string name = spec.workers.size() > 1 ? "A8.2gpu" : "A8.1gpu";
    stage.attempt(key, what, [&](Row& row) { return runTraced(stage, name, spec, tf32, row); });
  }
}

} // namespace

void tracing(Stage& stage) {
  if (stage.gpus().empty()) {
    return stage.lacking("A8/trace", "B3 net, traced", "the machine has no GPU");
  }
  NetSpec spec;
  spec.batch = stage.sizes().epochBatch;
  spec.workers = {stage.gpus()[0]};
  spec.owner = stage.gpus()[0];
  traceNet(stage, "A8/trace/1gpu", fmt::format("B3 net, one GPU, f32, batch {}, traced", spec.batch), spec,
           false);
  if (stage.gpus().size() > 1) {
    spec.workers = {stage.gpus()[0], stage.gpus()[1]};
    spec.owner = "";
    traceNet(stage, "A8/trace/2gpu",
             fmt::format("B3 net, two GPUs that exchange gradients, tf32, batch {}, traced", spec.batch),
             spec, true);
  }
}

} // namespace dfc::bench
