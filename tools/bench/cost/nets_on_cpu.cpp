// Training and inference on the host's CPU, beside PyTorch: the MLP, a transformer block, and the models of
// lessons 6 and 7.
#include "tools/bench/cost/beside_baseline.h"
#include "tools/bench/graphs/lessons.h"
#include "tools/bench/graphs/mlp.h"
#include "tools/bench/graphs/transformer.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr double mostOfTorch = 0.95; ///< of PyTorch's time

void trainMlp(Harness& harness, const BaselineOptions& baselines) {
  for (const auto& [batch, steps] : {std::pair(64, 20U), std::pair(1024, 5U), std::pair(8192, 1U)}) {
    MlpSpec spec;
    spec.batch = harness.quick() ? batch / 8 : batch;
    spec.workers = {harness.machine().devices[harness.machine().host()].name};
    spec.owner = spec.workers[0];
    besideBaseline(harness, baselines,
                   {fmt::format("train/{}", batch),
                    fmt::format("MLP, a training step on the CPU, batch {}", spec.batch), trainingStep(spec),
                    steps});
  }
}

// The sizes are those of baselines/torch_cpu.py.

struct GptWork {
  gpt::Sizes sizes{.layers = 6, .heads = 6, .width = 384, .context = 256, .vocabulary = 512};
  int64_t batch = 4;
};

GptWork gptWork(const Harness& harness) { return harness.quick() ? GptWork{{.context = 32}, 2} : GptWork{}; }

std::string textOf(const GptWork& work) {
  return fmt::format("GPT on the CPU, {} layers, width {}, vocabulary {}, {} windows of {} tokens",
                     work.sizes.layers, work.sizes.width, work.sizes.vocabulary, work.batch,
                     work.sizes.context);
}

struct ResnetWork {
  resnet::Sizes sizes{.width = 64, .image = 112, .channels = 3, .classes = 1000};
  int64_t batch = 8;
};

ResnetWork resnetWork(const Harness& harness) {
  return harness.quick() ? ResnetWork{{.width = 8, .image = 32, .channels = 3}, 2} : ResnetWork{};
}

std::string textOf(const ResnetWork& work) {
  return fmt::format("ResNet-{} on the CPU, {} images of {}x{}", work.sizes.depth, work.batch,
                     work.sizes.image, work.sizes.image);
}

/// A row of a lesson's graph, which is written only where it is wanted.
template <class Make>
void besideBaseline(Harness& harness, const BaselineOptions& baselines, const std::string& key,
                    const std::string& description, uint32_t steps, const Make& make) {
  if (harness.wants(key)) {
    FedGraph work = make();
    besideBaseline(harness, baselines,
                   {key, description, std::move(work.graph), steps, std::move(work.feeds), mostOfTorch});
  }
}

} // namespace

void trainingOnCpu(Harness& harness, const BaselineOptions& baselines) {
  trainMlp(harness, baselines);
  const GptWork gpt = gptWork(harness);
  besideBaseline(harness, baselines, "train/gpt/4x256", textOf(gpt) + ", a training step", 1,
                 [&] { return gptStep(gpt.sizes, gpt.batch); });
  const ResnetWork resnet = resnetWork(harness);
  besideBaseline(harness, baselines, "train/resnet18/8x112", textOf(resnet) + ", a training step", 1,
                 [&] { return resnetStep(resnet.sizes, resnet.batch); });
}

void inferenceOnCpu(Harness& harness, const BaselineOptions& baselines) {
  const GptWork gpt = gptWork(harness);
  besideBaseline(harness, baselines, "infer/gpt/4x256", textOf(gpt) + ", forward", 2,
                 [&] { return gptForward(gpt.sizes, gpt.batch); });
  const ResnetWork resnet = resnetWork(harness);
  besideBaseline(harness, baselines, "infer/resnet18/8x112", textOf(resnet) + ", forward", 4,
                 [&] { return resnetForward(resnet.sizes, resnet.batch); });
}

void decodingOnCpu(Harness& harness, const BaselineOptions& baselines) {
  gpt::Sizes sizes{.heads = 4, .width = 64, .context = 64, .vocabulary = 256};
  if (!harness.quick()) {
    sizes = {.layers = 12, .heads = 12, .width = 768, .context = 1024, .vocabulary = 50304};
  }
  for (const std::string element : {"f32", "int8"}) {
    const std::string key = "decode/124M/" + element;
    if (harness.wants(key)) {
      sizes.quantized = element == "int8" ? std::optional(Quantization{}) : std::nullopt;
      besideBaseline(
          harness, baselines,
          {key,
           fmt::format("GPT-2, a token on the CPU, weights in {}, a cache of {}", element, sizes.context),
           gptDecode(sizes).graph,
           10,
           {},
           1,
           [&](Session& session) { return setQuantized(session, sizes); },
           "cpu_decode.py"});
    }
  }
}

void transformerBlock(Harness& harness, const BaselineOptions& baselines) {
  BlockSpec spec;
  spec.batch = harness.quick() ? 1 : spec.batch;
  const std::string description =
      fmt::format("transformer block on the CPU, batch {}, sequence {}, width {}, {} heads", spec.batch,
                  spec.sequence, spec.width, spec.heads);
  besideBaseline(harness, baselines, {"block/forward", description + ", forward", blockForward(spec), 10});
  besideBaseline(harness, baselines,
                 {"block/train", description + ", training step", blockTraining(spec), 4});
}

} // namespace dfc::bench
