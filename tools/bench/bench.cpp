#include "tools/bench/bench.h"

#include "tools/bench/cost/costs.h"
#include "tools/bench/experiments/experiments.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

Setting settingOf(const Stage& stage) {
  return {stage.machine().name, stage.deviceReport(), stage.gpusPlayed(), stage.quick(), hostFacts()};
}

/// Scripts, and the experiments of ours that do the same.
struct Match {
  std::vector<PeerScript> scripts;
  std::vector<void (*)(Stage&)> experiments;
};

std::vector<std::string> trainingKeys(const Stage& stage, const std::string& gpus) {
  std::vector<std::string> keys;
  for (const std::string& precision : stage.precisions()) {
    for (const int64_t batch : stage.sizes().batches) {
      keys.push_back(fmt::format("B3/{}/{}/{}", gpus, precision, batch));
    }
  }
  return keys;
}

/// K2's peer: a program beside dfc, where it was built with CUDA.
PeerScript cublasLt(const Sizes& sizes) {
  PeerScript calls;
  calls.program = "dfc_cublaslt";
  calls.keys = endedProductKeys();
  const auto& [rows, columns, inner] = sizes.layer;
  calls.arguments = {"--rows",  fmt::format("{}", rows), "--columns", fmt::format("{}", columns),
                     "--inner", fmt::format("{}", inner)};
  return calls;
}

std::vector<Match> matches(const Stage& stage) {
  const Sizes& sizes = stage.sizes();
  const std::vector<std::string> one = trainingKeys(stage, "1gpu"), two = trainingKeys(stage, "2gpu");
  const std::string figureKey = fmt::format("A4/net/{}", sizes.largestBatch);
  return {
      {{{"torch_products.py",
         false,
         {"A1/gpu0", "A1/gpu1", "A2/both", "A3/copies", "A3/all"},
         {"--size", fmt::format("{}", sizes.product), "--count", fmt::format("{}", sizes.products)}}},
       {productsOnGpus}},
      {{{"torch_adds.py",
         false,
         {"B2/barrier", "B2/steps", "B2/dependent"},
         {"--count", fmt::format("{}", sizes.adds)}}},
       {manyAdds}},
      {{{"torch_net.py", false, one}, {"jax_net.py", false, one}}, {trainingOnOne}},
      {{{"torch_two.py", false, two}, {"torch_ddp.py", true, two}, {"jax_net.py", false, two}},
       {trainingOnTwo}},
      {{{"torch_two.py", false, {figureKey}}}, {figure}},
      {{cublasLt(sizes)}, {endedProducts}},
  };
}

} // namespace

Setting runExperiments(BenchOptions options, Report& report) {
  Stage stage(std::move(options), report);
  for (const Experiment& experiment : allExperiments()) {
    experiment.run(stage);
  }
  return settingOf(stage);
}

Setting runCosts(BenchOptions options, const PeerOptions& peers, Report& report) {
  Stage stage(std::move(options), report);
  for (const Cost& cost : allCosts()) {
    cost.run(stage, peers);
  }
  return settingOf(stage);
}

Setting runWithPeers(BenchOptions options, const PeerOptions& peers, Report& report) {
  Stage stage(std::move(options), report);
  for (const Match& match : matches(stage)) {
    for (PeerScript script : match.scripts) {
      std::erase_if(script.keys, [&](const std::string& key) { return !stage.wants(key); });
      if (script.program.empty()) {
        runPeer(stage, script, peers);
      } else {
        runProgramBeside(stage, std::move(script), peers, {"K2", "calls of cuBLASLt"});
      }
    }
    for (const auto experiment : match.experiments) {
      experiment(stage);
    }
  }
  holdAgainstPeers(stage);
  return settingOf(stage);
}

} // namespace dfc::bench
