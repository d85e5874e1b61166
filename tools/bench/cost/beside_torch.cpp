// Training and inference on the host's CPU, beside PyTorch with as many threads: B3's net and a transformer
// block. Ours is timed before and after PyTorch's script, so that what else the host does falls on both.
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/net.h"
#include "tools/bench/graphs/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace dfc::bench {
namespace {

constexpr double mostOverTorch = 1;

struct Work {
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

std::vector<double> samplesOf(const Stage& stage, const Prepared& act, uint32_t steps) {
  for (uint32_t i = 0; i < 3; ++i) {
    act.step();
  }
  act.session->waitAll();
  std::vector<double> seconds;
  const uint32_t count = stage.quick() ? 1 : steps;
  for (uint32_t sample = 0; sample < (stage.quick() ? 1U : 5U); ++sample) {
    const double begin = steadySeconds();
    for (uint32_t i = 0; i < count; ++i) {
      act.step();
    }
    act.session->waitAll();
    seconds.push_back((steadySeconds() - begin) / count);
  }
  return seconds;
}

void holdAgainstTorch(const Stage& stage, Row& row) {
  std::vector<const Row*> peers;
  for (const Row& other : stage.report().rows()) {
    if (other.key == row.key && other.who != "dfc" && other.time) {
      peers.push_back(&other);
    }
  }
  std::sort(peers.begin(), peers.end(),
            [](const Row* a, const Row* b) { return a->time->median < b->time->median; });
  for (const Row* peer : peers) {
    row.checks.push_back(against(row, peer->who, peer->time->median,
                                 peer == peers.front() ? stage.atFullSize(mostOverTorch) : std::nullopt));
  }
}

void besideTorch(Stage& stage, const PeerOptions& peers, const Work& work) {
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
    std::vector<double> seconds = samplesOf(stage, *act, work.steps);
    PeerScript script;
    script.file = "torch_cpu.py";
    script.keys = {work.key};
    script.arguments = {"--threads", fmt::format("{}", variation.machine->devices[DeviceId(0)].threads),
                        "--steps", fmt::format("{}", work.steps)};
    runPeer(stage, script, peers);
    const std::vector<double> after = samplesOf(stage, *act, work.steps);
    seconds.insert(seconds.end(), after.begin(), after.end());
    row.time = spreadOf(std::move(seconds));
    holdAgainstTorch(stage, row);
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
