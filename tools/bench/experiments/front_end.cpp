// B1: the front end returns before the work is done: host time of a submit, alone (nothing in the way) and
// steps back to back; and one fetch that can be read while the rest of its step still runs.
#include "tools/bench/experiments/training.h"

#include "ir/author/dsl.h"
#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "runtime/steady_seconds.h"
#include "tools/bench/graphs/adds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr uint32_t atOnce = 16; ///< submits in a row, all of them allowed in flight

/// Seconds of each submit; none of them has to wait for an earlier step.
Spread submitTimes(const Prepared& act, uint32_t samples) {
  std::vector<double> seconds;
  for (uint32_t sample = 0; sample < samples + 2; ++sample) {
    for (uint32_t i = 0; i < atOnce; ++i) {
      const double begin = steadySeconds();
      act.step();
      const double taken = steadySeconds() - begin;
      if (sample >= 2) { // the first rounds warm up
        seconds.push_back(taken);
      }
    }
    act.session->waitAll();
  }
  return spreadOf(std::move(seconds));
}

void submits(Stage& stage, const std::string& key, const std::string& what, const Result<Graph>& graph,
             double mostSeconds, bool mergeLaunches = true) {
  if (!stage.wants(key)) {
    return;
  }
  stage.attempt(key, what, [&](Row& row) -> Status {
    Variation variation;
    variation.maxInFlight = atOnce;
    variation.mergeLaunches = mergeLaunches;
    const auto act = stage.prepare(graph, variation);
    if (!act) {
      return act.errors();
    }
    row.time = submitTimes(*act, stage.longSteps().samples);
    row.checks.push_back(
        against(row, humanSeconds(mostSeconds) + " of host time", mostSeconds, stage.required(1)));
    row.notes.push_back(fmt::format("{} in the plan", counted(act->plan->schedule().steps.size(), "step")));
    return success();
  });
}

/// One product is fetched at once, a long chain of them at the end.
Result<Graph> earlyAndLate(const std::string& gpu, int64_t size, int length) {
  Builder g("early and late");
  const auto here = g.on(gpu);
  const Tensor x = g.parameter("x", f32({size, size}), uniform(0, 2.0 / static_cast<double>(size), 1));
  Tensor y = matmul(x, x);
  g.fetch("early", y); // the first product itself: a plan makes nothing before it
  for (int i = 0; i < length; ++i) {
    y = matmul(y, x);
  }
  g.fetch("late", reduceSum(y));
  return std::move(g).finish();
}

Status readEarly(Stage& stage, Row& row) {
  const auto act = stage.prepare(earlyAndLate(stage.gpus()[0], stage.sizes().independent, 50));
  if (!act) {
    return act.errors();
  }
  std::vector<double> early, whole;
  bool ranOn = true;
  for (uint32_t i = 0; i < 2 + stage.longSteps().samples; ++i) {
    const double begin = steadySeconds();
    const auto pending = act->session->submit({});
    if (!pending) {
      return pending.errors();
    }
    if (const auto value = pending->wait("early"); !value) {
      return value.errors();
    }
    early.push_back(steadySeconds() - begin);
    ranOn = ranOn && !pending->done();
    pending->wait();
    whole.push_back(steadySeconds() - begin);
  }
  row.time = spreadOf({early.begin() + 2, early.end()});
  row.checks.push_back(against(row, "the whole step", spreadOf({whole.begin() + 2, whole.end()}).median));
  row.checks.push_back(fact("the rest still ran when it was read", ranOn));
  return success();
}

NetSpec netOn(const std::vector<std::string>& gpus, int64_t batch) {
  NetSpec spec;
  spec.batch = batch;
  spec.workers = gpus;
  spec.owner = gpus.front();
  return spec;
}

} // namespace

void frontEnd(Stage& stage) {
  if (stage.gpus().empty()) {
    return stage.lacking("B1", "what a submit costs the host", "the machine has no GPU");
  }
  const std::vector<std::string>& gpus = stage.gpus();
  const int64_t batch = stage.sizes().epochBatch;
  submits(stage, "B1/submit/1gpu", "host time of a submit, B3 net on one GPU",
          trainingStep(netOn({gpus[0]}, batch)), 20e-6);
  if (gpus.size() > 1) {
    submits(stage, "B1/submit/2gpu", "host time of a submit, B3 net on two GPUs",
            trainingStep(netOn({gpus[0], gpus[1]}, batch)), 20e-6);
  } else {
    stage.lacking("B1/submit/2gpu", "host time of a submit, B3 net on two GPUs",
                  "the machine has no second GPU");
  }
  const int adds = stage.sizes().adds;
  submits(stage, "B1/submit/long", fmt::format("host time of a submit, plan of {} launches", adds),
          dependentAdds(gpus[0], adds), adds * 1e-6, /*mergeLaunches=*/false);
  if (stage.wants("B1/early")) {
    stage.attempt("B1/early", "a fetch read while the step still computes",
                  [&](Row& row) { return readEarly(stage, row); });
  }
}

} // namespace dfc::bench
