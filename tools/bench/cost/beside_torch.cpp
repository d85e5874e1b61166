// Training and inference on the host's CPU, beside PyTorch with as many threads: the MLP and a transformer
// block. Samples of PyTorch and dfc alternate.
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/mlp.h"
#include "tools/bench/graphs/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace dfc::bench {
namespace {

constexpr double mostOverTorch = 1;
// Warm-up before each sample, as in baselines/baseline.py: the other program's threads still spin for some
// milliseconds, the caches hold its data, and processors wake up slowly.
constexpr double warmSeconds = 0.1;

struct TorchWork {
  std::string key, description;
  Result<Graph> graph;
  uint32_t steps; ///< of a sample
};

/// The machine's host alone, with all threads of this host.
Machine hostOf(const Harness& harness) {
  Machine machine;
  machine.name = "host";
  DeviceRow host = harness.machine().devices[harness.machine().host()];
  host.threads = std::max(1U, std::thread::hardware_concurrency());
  host.computeQueues = 1;
  machine.devices.add(host);
  return machine;
}

void besideTorch(Harness& harness, const BaselineOptions& baselines, const TorchWork& work) {
  if (!harness.wants(work.key)) {
    return;
  }
  harness.attempt(work.key, work.description, [&](Row& row) -> Status {
    Variation variation;
    variation.machine = hostOf(harness);
    const auto prepared = harness.prepare(work.graph, variation);
    if (!prepared) {
      return prepared.errors();
    }
    const Sampling all = harness.requested({15, work.steps, 1}, {2, 1, 1});
    BaselineProgram script;
    script.file = "torch_cpu.py";
    script.keys = {work.key};
    script.arguments = {"--threads", fmt::format("{}", variation.machine->devices[DeviceId(0)].threads),
                        "--steps", fmt::format("{}", all.steps)};
    InterleavedBaseline baseline(harness, script, baselines);
    std::vector<double> seconds;
    for (uint32_t sample = 0; sample < all.samples; ++sample) {
      seconds.push_back(sampleSteps(*prepared, {1, all.steps, all.warmUp, warmSeconds}).front());
      baseline.sample();
    }
    baseline.finish();
    row.time = spreadOf(std::move(seconds));
    holdAgainstBaselines(harness.report(), row.key, harness.atFullSize(mostOverTorch), row);
    return success();
  });
}

} // namespace

void trainingOnCpu(Harness& harness, const BaselineOptions& baselines) {
  for (const auto& [batch, steps] : {std::pair(64, 20U), std::pair(1024, 5U), std::pair(8192, 1U)}) {
    MlpSpec spec;
    spec.batch = harness.quick() ? batch / 8 : batch;
    spec.workers = {harness.machine().devices[harness.machine().host()].name};
    spec.owner = spec.workers[0];
    besideTorch(harness, baselines,
                {fmt::format("train/{}", batch),
                 fmt::format("MLP, a training step on the CPU, batch {}", spec.batch), trainingStep(spec),
                 steps});
  }
}

void transformerBlock(Harness& harness, const BaselineOptions& baselines) {
  BlockSpec spec;
  spec.batch = harness.quick() ? 1 : spec.batch;
  const std::string description =
      fmt::format("transformer block on the CPU, batch {}, sequence {}, width {}, {} heads", spec.batch,
                  spec.sequence, spec.width, spec.heads);
  besideTorch(harness, baselines, {"block/forward", description + ", forward", blockForward(spec), 10});
  besideTorch(harness, baselines, {"block/train", description + ", training step", blockTraining(spec), 4});
}

} // namespace dfc::bench
