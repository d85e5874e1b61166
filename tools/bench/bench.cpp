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
                                          const std::vector<std::string>& arguments = {},
                                          size_t processes = 1) {
  std::vector<BaselineProgram> programs;
  for (const std::string& key : keys) {
    for (const std::string& script : scripts) {
      programs.push_back({script, processes, {key}, arguments});
    }
  }
  return programs;
}

/// A script with a process for each GPU, and one whose process has all of them.
std::vector<BaselineProgram> onAllGpus(const Harness& harness, const std::string& processEach,
                                       const std::string& oneProcess, const std::vector<std::string>& keys,
                                       const std::vector<std::string>& arguments = {}) {
  if (harness.gpus().size() < 2) {
    return {};
  }
  std::vector<BaselineProgram> programs = aProcessEach({processEach}, keys, arguments, harness.gpus().size());
  for (BaselineProgram& program : aProcessEach({oneProcess}, keys, arguments)) {
    programs.push_back(std::move(program));
  }
  return programs;
}

std::vector<Match> matches(const Harness& harness) {
  const Sizes& sizes = harness.sizes();
  const std::vector<std::string> one = trainingKeys(harness, "1gpu"), two = trainingKeys(harness, "2gpu");
  const std::string figureKey = fmt::format("update_on_cpu/mlp/{}", sizes.largestBatch);
  return {
      {{{"torch_products.py",
         1,
         {"products_on_gpu/gpu0", "products_on_gpu/gpu1", "products_on_gpus", "drain_to_host/copies",
          "drain_to_host/all"},
         {"--size", fmt::format("{}", sizes.product), "--count", fmt::format("{}", sizes.products)}}},
       {productsOnGpu, productsOnGpus, drainToHost}},
      {{{"torch_adds.py",
         1,
         {"stepwise_adds/barrier", "stepwise_adds/back_to_back", "dependent_adds"},
         {"--count", fmt::format("{}", sizes.adds)}}},
       {stepwiseAdds, dependentAdds, independentAdds}},
      {{{"torch_net.py", 1, one}, {"jax_net.py", 1, one}}, {trainOnOneGpu}},
      {{{"torch_two.py", 1, two}, {"torch_ddp.py", 2, two}, {"jax_net.py", 1, two}}, {trainOnTwoGpus}},
      {{{"torch_two.py", 1, {figureKey}}}, {updateOnCpu}},
      {{cublasLt(sizes)}, {denseBackward}},
      {aProcessEach({"torch_gpt.py", "jax_gpt.py"}, gptTrainingKeys(harness)), {gptTraining}},
      {aProcessEach({"torch_decode.py", "jax_decode.py"}, gptDecodeKeys(harness)), {gptDecoding}},
      {aProcessEach({"torch_resnet.py", "jax_resnet.py"}, resnetTrainingKeys(harness),
                    resnetArguments(harness)),
       {resnetTraining}},
      {onAllGpus(harness, "torch_gpt_gpus.py", "jax_gpt.py", gptOnGpusKeys(harness)), {gptOnGpus}},
      {onAllGpus(harness, "torch_resnet_gpus.py", "jax_resnet.py", resnetOnGpusKeys(harness),
                 resnetArguments(harness)),
       {resnetOnGpus}},
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
