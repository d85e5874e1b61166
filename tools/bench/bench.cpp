#include "tools/bench/bench.h"

#include "tools/bench/cost/costs.h"
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/experiments/mlp_training.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

Setting settingOf(const Harness& harness) {
  return {harness.machine().name, harness.deviceReport(), harness.gpusUsed(), harness.quick(), hostFacts()};
}

/// Baseline programs, and the experiments that do the same work.
struct Match {
  std::vector<BaselineProgram> programs;
  std::vector<void (*)(Harness&)> experiments;
};

std::vector<std::string> trainingKeys(const Harness& harness, const std::string& gpus) {
  std::vector<std::string> keys;
  for (const std::string& precision : harness.precisions()) {
    for (const int64_t batch : harness.sizes().batches) {
      keys.push_back(fmt::format("mlp_training/{}/{}/{}", gpus, precision, batch));
    }
  }
  return keys;
}

/// The baseline of dense_backward: a program beside dfc, where it was built with CUDA.
BaselineProgram cublasLt(const Sizes& sizes) {
  BaselineProgram calls;
  calls.executable = "dfc_cublaslt";
  calls.keys = denseBackwardKeys();
  const auto& [rows, columns, inner] = sizes.layer;
  calls.arguments = {"--rows",  fmt::format("{}", rows), "--columns", fmt::format("{}", columns),
                     "--inner", fmt::format("{}", inner)};
  return calls;
}

/// Scripts of GPT-2 or a ResNet: one process a key, as each compiles for minutes and the time limit is a
/// script's.
std::vector<BaselineProgram> aProcessEach(const std::vector<std::string>& scripts,
                                          const std::vector<std::string>& keys,
                                          const std::vector<std::string>& arguments = {}) {
  std::vector<BaselineProgram> programs;
  for (const std::string& key : keys) {
    for (const std::string& script : scripts) {
      programs.push_back({script, false, {key}, arguments});
    }
  }
  return programs;
}

std::vector<Match> matches(const Harness& harness) {
  const Sizes& sizes = harness.sizes();
  const std::vector<std::string> one = trainingKeys(harness, "1gpu"), two = trainingKeys(harness, "2gpu");
  const std::string figureKey = fmt::format("update_on_cpu/mlp/{}", sizes.largestBatch);
  return {
      {{{"torch_products.py",
         false,
         {"products_on_gpu/gpu0", "products_on_gpu/gpu1", "products_on_gpus", "drain_to_host/copies",
          "drain_to_host/all"},
         {"--size", fmt::format("{}", sizes.product), "--count", fmt::format("{}", sizes.products)}}},
       {productsOnGpu, productsOnGpus, drainToHost}},
      {{{"torch_adds.py",
         false,
         {"stepwise_adds/barrier", "stepwise_adds/back_to_back", "dependent_adds"},
         {"--count", fmt::format("{}", sizes.adds)}}},
       {stepwiseAdds, dependentAdds, independentAdds}},
      {{{"torch_net.py", false, one}, {"jax_net.py", false, one}}, {trainOnOneGpu}},
      {{{"torch_two.py", false, two}, {"torch_ddp.py", true, two}, {"jax_net.py", false, two}},
       {trainOnTwoGpus}},
      {{{"torch_two.py", false, {figureKey}}}, {updateOnCpu}},
      {{cublasLt(sizes)}, {denseBackward}},
      {aProcessEach({"torch_gpt.py", "jax_gpt.py"}, gptTrainingKeys(harness)), {gptTraining}},
      {aProcessEach({"torch_decode.py", "jax_decode.py"}, gptDecodeKeys(harness)), {gptDecoding}},
      {aProcessEach({"torch_resnet.py", "jax_resnet.py"}, resnetTrainingKeys(harness),
                    resnetArguments(harness)),
       {resnetTraining}},
  };
}

} // namespace

Setting runExperiments(BenchOptions options, Report& report) {
  Harness harness(std::move(options), report);
  for (const auto experiment : allExperiments()) {
    experiment(harness);
  }
  return settingOf(harness);
}

Setting runCosts(BenchOptions options, const BaselineOptions& baselines, Report& report) {
  Harness harness(std::move(options), report);
  for (const auto cost : allCosts()) {
    cost(harness, baselines);
  }
  return settingOf(harness);
}

Setting runWithBaselines(BenchOptions options, const BaselineOptions& baselines, Report& report) {
  Harness harness(std::move(options), report);
  for (const Match& match : matches(harness)) {
    for (BaselineProgram program : match.programs) {
      std::erase_if(program.keys, [&](const std::string& key) { return !harness.wants(key); });
      if (program.executable.empty()) {
        runBaseline(harness, program, baselines);
      } else {
        runInstalledBaseline(harness, std::move(program), baselines, {"dense_backward", "calls of cuBLASLt"});
      }
    }
    for (const auto experiment : match.experiments) {
      experiment(harness);
    }
  }
  holdAgainstBaselines(harness);
  return settingOf(harness);
}

} // namespace dfc::bench
