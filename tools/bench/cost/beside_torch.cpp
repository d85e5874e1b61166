// Training and inference on the host's CPU, beside PyTorch with as many threads: B3's net and a transformer
// block. Its samples and ours take turns.
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/net.h"
#include "tools/bench/graphs/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace dfc::bench {
namespace {

constexpr double mostOverTorch = 1;
// So long everyone warms up when its turn comes (peers/peer.py does the same): the other's threads still spin
// for some milliseconds, the caches are its, and processors wake up slowly.
constexpr double warmSeconds = 0.1;

struct TorchWork {
  std::string key, what;
  Result<Graph> graph;
  uint32_t steps; ///< of a sample
};

/// The stage's host alone, with all threads that this host has.
Machine hostOf(const Stage& stage) {
  Machine machine;
  machine.name = "host";
  DeviceRow host = stage.machine().devices[stage.machine().host()];
  host.threads = std::max(1U, std::thread::hardware_concurrency());
  host.computeQueues = 1;
  machine.devices.add(host);
  return machine;
}

void besideTorch(Stage& stage, const PeerOptions& peers, const TorchWork& work) {
  if (!stage.wants(work.key)) {
    return;
  }
  stage.attempt(work.key, work.what, [&](Row& row) -> Status {
    Variation variation;
    variation.machine = hostOf(stage);
    const auto act = stage.prepare(work.graph, variation);
    if (!act) {
      return act.errors();
    }
    const Sampling all = stage.asAsked({15, work.steps, 1}, {2, 1, 1});
    PeerScript script;
    script.file = "torch_cpu.py";
    script.keys = {work.key};
    script.arguments = {"--threads", fmt::format("{}", variation.machine->devices[DeviceId(0)].threads),
                        "--steps", fmt::format("{}", all.steps)};
    PeerInTurn peer(stage, script, peers);
    std::vector<double> seconds;
    for (uint32_t sample = 0; sample < all.samples; ++sample) {
      seconds.push_back(sampleSteps(*act, {1, all.steps, all.warmUp, warmSeconds}).front());
      peer.sample();
    }
    peer.finish();
    row.time = spreadOf(std::move(seconds));
    holdAgainstPeers(stage.report(), row.key, stage.atFullSize(mostOverTorch), row);
    return success();
  });
}

} // namespace

void trainingOnCpu(Stage& stage, const PeerOptions& peers) {
  for (const auto& [batch, steps] : {std::pair(64, 20U), std::pair(1024, 5U), std::pair(8192, 1U)}) {
    NetSpec spec;
    spec.batch = stage.quick() ? batch / 8 : batch;
    spec.workers = {stage.machine().devices[stage.machine().host()].name};
    spec.owner = spec.workers[0];
    besideTorch(stage, peers,
                {fmt::format("train/{}", batch),
                 fmt::format("B3 net, a training step on the CPU, batch {}", spec.batch), trainingStep(spec),
                 steps});
  }
}

void transformerBlock(Stage& stage, const PeerOptions& peers) {
  BlockSpec spec;
  spec.batch = stage.quick() ? 1 : spec.batch;
  const std::string what =
      fmt::format("transformer block on the CPU, batch {}, sequence {}, width {}, {} heads", spec.batch,
                  spec.sequence, spec.width, spec.heads);
  besideTorch(stage, peers, {"block/forward", what + ", forward", blockForward(spec), 10});
  besideTorch(stage, peers, {"block/train", what + ", training step", blockTraining(spec), 4});
}

} // namespace dfc::bench
