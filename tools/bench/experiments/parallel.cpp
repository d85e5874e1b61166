// A5: independent ops run in parallel, by plan and by trace. A6: small ops gain from several queues on one
// device, seen with launches apart: merged into one they gain more. A7: GPU, CPU and copies busy at once.
#include "tools/bench/graphs/parallel.h"
#include "tools/bench/experiments/traced.h"
#include "tools/bench/graphs/adds.h"

#include "ir/author/text/units.h"

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

/// What a row of A6 varies: its key is "A6/<device>/<queues>", or "A6/<device>/merged".
struct Chains {
  std::string device;
  int queues = 1;
  bool merged = false; ///< launches of a segment joined into one, as sessions do unless told not to
  std::string key() const {
    return fmt::format("A6/{}/{}", device, merged ? "merged" : fmt::to_string(queues));
  }
};

Status runChains(Stage& stage, const Chains& chains, int count, Row& row) {
  Variation variation;
  variation.mergeLaunches = chains.merged;
  variation.machine = stage.machine();
  variation.machine->devices[variation.machine->findDevice(chains.device)].computeQueues =
      static_cast<uint32_t>(chains.queues);
  const auto act = stage.prepare(chainsOfAdds(chains.device, count, stage.sizes().adds / count), variation);
  if (!act) {
    return act.errors();
  }
  measureSteps(*act, stage.shortSteps(), row);
  const auto single = stage.report().seconds(Chains{chains.device}.key());
  if (single && (chains.queues > 1 || chains.merged)) {
    row.checks.push_back(against(row, "one queue", *single, stage.required(1)));
  }
  return success();
}

/// Rows that are wanted, and the one of one queue before them: launches of their own on one queue and on
/// several, and, where `merging`, one queue's launches merged, which is the other way to the same end.
void runAllChains(Stage& stage, const std::string& device, const std::vector<int>& queues, bool merging) {
  constexpr int count = 8;
  std::vector<Chains> wanted = {{device}};
  for (const int several : queues) {
    wanted.push_back({device, several});
  }
  if (merging) {
    wanted.push_back({device, 1, true});
  }
  std::erase_if(wanted, [&](const Chains& chains) { return !stage.wants(chains.key()); });
  if (!wanted.empty() && wanted.front().key() != Chains{device}.key()) {
    wanted.insert(wanted.begin(), {device});
  }
  for (const Chains& chains : wanted) {
    stage.attempt(chains.key(),
                  fmt::format("{} chains of {} tiny ops on {}, {} compute queue{}{}", count,
                              stage.sizes().adds / count, device, chains.queues,
                              chains.queues == 1 ? "" : "s", chains.merged ? ", launches merged" : ""),
                  [&](Row& row) { return runChains(stage, chains, count, row); });
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
    runAllChains(stage, stage.gpus()[0], {2, 4, 8}, stage.realGpus());
  }
  const DeviceRow& host = stage.machine().devices[stage.machine().host()];
  runAllChains(stage, host.name, {2, 4}, false);
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
