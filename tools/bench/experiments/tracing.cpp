// A8: what a profiler would show: a trace of B3's net with the ops by name, predicted above measured. It says
// too what tracing costs.
#include "tools/bench/experiments/traced.h"
#include "tools/bench/experiments/training.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

Status runTraced(Stage& stage, const NetSpec& spec, Row& row) {
  const auto plain = stage.prepare(trainingStep(spec));
  if (!plain) {
    return plain.errors();
  }
  const double untraced = timeSteps(*plain, stage.shortSteps()).median;
  Variation variation;
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
  return keepTrace(stage, "A8", *act, measured, row);
}

} // namespace

void tracing(Stage& stage) {
  if (!stage.wants("A8/trace")) {
    return;
  }
  if (stage.gpus().empty()) {
    return stage.lacking("A8/trace", "B3 net, traced", "the machine has no GPU");
  }
  NetSpec spec;
  spec.batch = stage.sizes().epochBatch;
  spec.workers = {stage.gpus()[0]};
  spec.owner = stage.gpus()[0];
  stage.attempt("A8/trace", fmt::format("B3 net, one GPU, f32, batch {}, traced", spec.batch),
                [&](Row& row) { return runTraced(stage, spec, row); });
}

} // namespace dfc::bench
