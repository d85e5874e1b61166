// A4, the book's figure: two GPUs compute gradients of half a batch each, the CPU sums them, updates the
// weights and sends them out. The lesson's own two-layer net, whose trace must show the second layer's sum,
// update and broadcast inside the first layer's backward pass; and B3's net at its largest batch, timed.
#include "samples/03_figure/graph.h"
#include "tools/bench/experiments/traced.h"
#include "tools/bench/experiments/training.h"

#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "runtime/steady_seconds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

const std::vector<std::string> fc2OnCpu = {"fc2 sum", "fc2 update", "fc2 sum and update"},
                               fc1OnGpus = {"fc1 backward"};

/// Of the time that the second layer's sum, update and broadcast take, the share inside fc1's backward pass.
double hiddenShare(const Trace& trace, const Executable& plan) {
  const double all = togetherSeconds(trace, plan, {inScopes(fc2OnCpu)});
  return all > 0 ? togetherSeconds(trace, plan, {inScopes(fc2OnCpu), inScopes(fc1OnGpus)}) / all : 0;
}

void checkOverlap(const Stage& stage, const Prepared& act, const Trace& measured, Row& row) {
  const double planned = hiddenShare(predictedTrace(*act.plan), *act.plan);
  const double seen = hiddenShare(measured, *act.plan);
  row.checks.push_back(fact("fc2 on the CPU beside fc1 backward: planned", planned > 0));
  row.checks.push_back(stage.seen("half of it and more: measured", seen >= 0.5));
  row.notes.push_back(
      fmt::format("of fc2's sum, update and broadcast, {:.0f} % lie inside fc1 backward in the "
                  "plan, {:.0f} % in the measured trace",
                  100 * planned, 100 * seen));
}

std::string hostName(const Stage& stage) { return stage.machine().devices[stage.machine().host()].name; }

NetSpec figureNet(const Stage& stage) {
  NetSpec spec;
  spec.batch = stage.sizes().largestBatch;
  spec.workers = {stage.gpus()[0], stage.gpus()[1]};
  spec.owner = hostName(stage);
  return spec;
}

Status traceNet(Stage& stage, const std::string& name, Row& row) {
  Variation traced;
  traced.trace = true;
  const auto act = stage.prepare(trainingStep(figureNet(stage)), traced);
  if (!act) {
    return act.errors();
  }
  const Trace measured = tracedSteps(*act, 20);
  checkOverlap(stage, *act, measured, row);
  return keepTrace(stage, name, *act, measured, row);
}

void timed(Stage& stage) {
  const NetSpec spec = figureNet(stage);
  const std::string what =
      fmt::format("B3 net, two GPUs, parameters updated on the CPU, f32, batch {}", spec.batch);
  stage.attempt(fmt::format("A4/net/{}", spec.batch), what, [&](Row& row) -> Status {
    const auto act = stage.prepare(trainingStep(spec));
    if (!act) {
      return act.errors();
    }
    measureSteps(*act, stage.shortSteps(), row);
    row.checks.push_back(against(row, "the plan's lower bound", *row.bound, stage.required(1.15)));
    stage.checkPrediction(row);
    row.notes.push_back(fmt::format("{} transfers a step", act->plan->placed().transfers.size()));
    return traceNet(stage, "A4-net", row);
  });
}

/// The lesson's graph is fed from the host each step.
NamedLiterals batchOfImages() {
  Literal images(f32({figure::batch, figure::pixels})), labels(i64({figure::batch}));
  const auto pixels = images.mutableData<float>();
  for (size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>((i * 2654435761U) % 256U) / 255.0F;
  }
  for (int64_t i = 0; i < figure::batch; ++i) {
    labels.set(i, static_cast<double>(i % figure::classes));
  }
  return {{"images", images}, {"labels", labels}};
}

Status runLesson(Stage& stage, Row& row) {
  Variation traced;
  traced.trace = true;
  const auto graph = figure::trainingStep({hostName(stage), {stage.gpus()[0], stage.gpus()[1]}});
  const auto act = stage.prepare(graph, traced);
  if (!act) {
    return act.errors();
  }
  const NamedLiterals feeds = batchOfImages();
  std::vector<double> seconds;
  for (uint32_t i = 0; i < 3 + 3 * stage.longSteps().samples; ++i) {
    const double begin = steadySeconds();
    if (const auto result = act->session->run(feeds); !result) {
      return result.errors();
    }
    seconds.push_back(steadySeconds() - begin);
  }
  row.time = spreadOf({seconds.begin() + 3, seconds.end()});
  row.predicted = act->plan->schedule().makespan;
  row.bound = act->plan->schedule().bounds.best();
  const Trace measured = act->session->takeTrace();
  checkOverlap(stage, *act, measured, row);
  return keepTrace(stage, "A4-figure", *act, measured, row);
}

} // namespace

void figure(Stage& stage) {
  if (stage.gpus().size() < 2) {
    return stage.lacking("A4", "the book's figure", "the machine has no second GPU");
  }
  if (stage.wants("A4/figure")) {
    stage.attempt("A4/figure", "the figure's own net, fed from the host, each step waited for, traced",
                  [&](Row& row) { return runLesson(stage, row); });
  }
  if (stage.wants(fmt::format("A4/net/{}", stage.sizes().largestBatch))) {
    timed(stage);
  }
}

} // namespace dfc::bench
