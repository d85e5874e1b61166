// A5: independent ops run in parallel, by plan and by trace. A6: small ops gain from several queues on one
// device. A7: GPU, CPU and copies busy at once.
#include "tools/bench/graphs/parallel.h"
#include "tools/bench/experiments/traced.h"
#include "tools/bench/graphs/adds.h"

#include "ir/text/units.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr int productCount = 8;

bool anyComputation(const Executable& plan, StepId step) {
  return computationOn(DeviceKind::Gpu)(plan, step) || computationOn(DeviceKind::Cpu)(plan, step);
}

Status runIndependent(Stage& stage, Row& row) {
  Variation traced;
  traced.trace = true;
  const auto act = stage.prepare(independentProducts(productCount, stage.sizes().independent), traced);
  if (!act) {
    return act.errors();
  }
  measureSteps(*act, stage.longSteps(), row);
  act->session->takeTrace();
  const Trace measured = tracedSteps(*act, 5);
  const int planned = mostAtOnce(predictedTrace(*act->plan), *act->plan, anyComputation);
  const int seen = mostAtOnce(measured, *act->plan, anyComputation);
  row.checks.push_back(fact("several at once in the plan", planned > 1));
  row.checks.push_back(stage.seen("several at once in the trace", seen > 1));
  row.notes.push_back(fmt::format("at most {} at once in the plan, {} in the measured trace", planned, seen));
  return keepTrace(stage, "A5", *act, measured, row);
}

/// Rows "A6/<device>/<queues>": chains of tiny ops, with one compute queue and with more.
void chains(Stage& stage, const std::string& device, int count, int length, int queues) {
  const std::string key = fmt::format("A6/{}/{}", device, queues), one = fmt::format("A6/{}/1", device);
  stage.attempt(key,
                fmt::format("{} chains of {} tiny ops on {}, {} compute queue{}", count, length, device,
                            queues, queues == 1 ? "" : "s"),
                [&](Row& row) -> Status {
                  Variation variation;
                  variation.machine = stage.machine();
                  variation.machine->devices[variation.machine->findDevice(device)].computeQueues =
                      static_cast<uint32_t>(queues);
                  const auto act = stage.prepare(chainsOfAdds(device, count, length), variation);
                  if (!act) {
                    return act.errors();
                  }
                  measureSteps(*act, stage.shortSteps(), row);
                  if (const auto single = stage.report().seconds(one); queues > 1 && single) {
                    row.checks.push_back(against(row, "one queue", *single, stage.required(1)));
                  }
                  return success();
                });
}

void chainsOn(Stage& stage, const std::string& device, const std::vector<int>& queues) {
  bool first = true;
  for (const int count : queues) {
    if (stage.wants(fmt::format("A6/{}/{}", device, count))) {
      if (first) {
        chains(stage, device, 8, stage.sizes().adds / 8, 1);
      }
      chains(stage, device, 8, stage.sizes().adds / 8, count);
      first = false;
    }
  }
}

Status runPipeline(Stage& stage, Row& row) {
  const std::string cpu = stage.machine().devices[stage.machine().host()].name;
  Variation traced;
  traced.trace = true;
  const auto act =
      stage.prepare(gpuAndCpuPipeline(stage.gpus()[0], cpu, stage.sizes().independent, productCount), traced);
  if (!act) {
    return act.errors();
  }
  measureSteps(*act, stage.longSteps(), row);
  act->session->takeTrace();
  const Trace measured = tracedSteps(*act, 5);
  const std::vector<Pick> kinds = {computationOn(DeviceKind::Gpu), computationOn(DeviceKind::Cpu),
                                   anyTransfer()};
  const double planned = togetherSeconds(predictedTrace(*act->plan), *act->plan, kinds);
  const double seen = togetherSeconds(measured, *act->plan, kinds) / 5;
  row.checks.push_back(fact("all three at once in the plan", planned > 0));
  row.checks.push_back(stage.seen("all three at once in the trace", seen > 0));
  row.notes.push_back(fmt::format("GPU, CPU and copies busy at once for {} of a step in the plan, {} in the "
                                  "measured trace",
                                  humanSeconds(planned), humanSeconds(seen)));
  return keepTrace(stage, "A7", *act, measured, row);
}

} // namespace

void independentOps(Stage& stage) {
  if (stage.wants("A5/independent")) {
    const int64_t size = stage.sizes().independent;
    stage.attempt("A5/independent",
                  fmt::format("{0} independent products of {1}x{1} f32, placed by dfc", productCount, size),
                  [&](Row& row) { return runIndependent(stage, row); });
  }
}

void severalQueues(Stage& stage) {
  if (!stage.gpus().empty()) {
    chainsOn(stage, stage.gpus()[0], {2, 4, 8});
  }
  const DeviceRow& host = stage.machine().devices[stage.machine().host()];
  chainsOn(stage, host.name, {2, 4});
}

void allAtOnce(Stage& stage) {
  const std::string what =
      fmt::format("products on the GPU, copied to the CPU and multiplied again there, {0}x{0}",
                  stage.sizes().independent);
  if (stage.gpus().empty()) {
    return stage.lacking("A7/pipeline", what, "the machine has no GPU");
  }
  if (stage.wants("A7/pipeline")) {
    stage.attempt("A7/pipeline", what, [&](Row& row) { return runPipeline(stage, row); });
  }
}

} // namespace dfc::bench
