#include "tools/bench/cost/beside_baseline.h"
#include "runtime/available_processors.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace dfc::bench {
namespace {

// Warm-up before each sample, as in baselines/baseline.py: the other program's threads still spin for some
// milliseconds, the caches hold its data, and processors wake up slowly.
constexpr double warmSeconds = 0.1;

/// The machine's host alone, with all threads of this host.
Machine hostOf(const Harness& harness) {
  Machine machine;
  machine.name = "host";
  DeviceRow host = harness.machine().devices[harness.machine().host()];
  host.threads = availableProcessors();
  host.computeQueues = 1;
  machine.devices.add(host);
  return machine;
}

BaselineProgram scriptOn(const Machine& host, const CpuWork& work, uint32_t steps) {
  BaselineProgram script;
  script.file = work.script;
  script.keys = {work.key};
  script.arguments = {"--threads", fmt::format("{}", host.devices[DeviceId(0)].threads), "--steps",
                      fmt::format("{}", steps)};
  return script;
}

Status measure(Harness& harness, const BaselineOptions& baselines, const CpuWork& work, Row& row) {
  Variation variation;
  variation.machine = hostOf(harness);
  auto prepared = harness.prepare(work.graph, variation);
  if (!prepared) {
    return prepared.errors();
  }
  prepared->feeds = work.feeds;
  if (work.prepare) {
    if (const Status set = work.prepare(*prepared->session); !set) {
      return set;
    }
  }
  const Sampling all = harness.requested({15, work.steps, 1}, {2, 1, 1});
  InterleavedBaseline baseline(harness, scriptOn(*variation.machine, work, all.steps), baselines);
  std::vector<double> seconds;
  for (uint32_t sample = 0; sample < all.samples; ++sample) {
    seconds.push_back(sampleSteps(*prepared, {1, all.steps, all.warmUp, warmSeconds}).front());
    baseline.sample();
  }
  baseline.finish();
  row.time = spreadOf(std::move(seconds));
  holdAgainstBaselines(harness.report(), row.key, harness.atFullSize(work.mostOverBaseline), row);
  return success();
}

} // namespace

void besideBaseline(Harness& harness, const BaselineOptions& baselines, const CpuWork& work) {
  if (harness.wants(work.key)) {
    harness.attempt(work.key, work.description,
                    [&](Row& row) { return measure(harness, baselines, work, row); });
  }
}

} // namespace dfc::bench
