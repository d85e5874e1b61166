// Training steps of GPT-2 and of a ResNet, as lessons 6 and 7 write them: on one GPU each size at each
// precision; and on all GPUs of the machine, from the same graph without a pin, with the batch of one GPU for
// each of them. Steps are fed from the host and submitted back to back.
#include "ir/plan/executable_parts.h"
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/lessons.h"

#include <fmt/format.h>

#include <llvm/ADT/STLExtras.h>

#include <cmath>

namespace dfc::bench {
namespace {

struct GptCase {
  std::string size, precision;
  int64_t batch, context;
  std::string key() const { return keyOf("gpt_training", 1); }
  std::string keyOf(const std::string& benchmark, size_t gpus) const {
    return fmt::format("{}/{}/{}/{}x{}", benchmark, size, precision, batch * static_cast<int64_t>(gpus),
                       context);
  }
};

struct ResnetCase {
  int64_t depth;
  std::string precision;
  int64_t batch, image;
  std::string key() const { return keyOf("resnet_training", 1); }
  std::string keyOf(const std::string& benchmark, size_t gpus) const {
    return fmt::format("{}/{}/{}/{}x{}", benchmark, depth, precision, batch * static_cast<int64_t>(gpus),
                       image);
  }
};

/// Whether the sizes are full, as times mean something.
bool atFullSize(const Harness& harness) { return harness.required(1).has_value(); }

std::vector<GptCase> gptCases(const Harness& harness) {
  if (!atFullSize(harness)) {
    return {{"small", "f32", 2, 64}, {"small", "bf16", 2, 64}};
  }
  return {{"124M", "bf16", 8, 1024},
          {"124M", "tf32", 8, 1024},
          {"124M", "f32", 8, 1024},
          {"124M", "bf16", 1, 128},
          {"124M", "tf32", 1, 128}};
}

std::vector<ResnetCase> resnetCases(const Harness& harness) {
  if (!atFullSize(harness)) {
    return {{18, "f32", 2, 32}, {18, "bf16", 2, 32}};
  }
  return {{50, "bf16", 64, 224}, {50, "tf32", 64, 224}, {50, "f32", 64, 224}};
}

/// The batch of one GPU. Only one case: the baselines compile for minutes.
GptCase gptOfEachGpu(const Harness& harness) { return gptCases(harness).front(); }
ResnetCase resnetOfEachGpu(const Harness& harness) { return resnetCases(harness).front(); }

/// Those of the lesson's `--size`.
gpt::Sizes sizesOf(const GptCase& one) {
  gpt::Sizes sizes;
  if (one.size == "124M") {
    sizes = {.layers = 12, .heads = 12, .width = 768, .vocabulary = 50304};
  }
  sizes.context = one.context;
  return sizes;
}

/// Width, channels and classes are ImageNet's usual ones, or small.
resnet::Sizes resnetSizes(const Harness& harness) {
  resnet::Sizes sizes;
  sizes.width = atFullSize(harness) ? 64 : 8;
  sizes.channels = 3;
  sizes.classes = atFullSize(harness) ? 1000 : 10;
  return sizes;
}

Precision precisionOf(const std::string& name) {
  return name == "bf16" ? Precision::Bf16 : name == "tf32" ? Precision::Tf32 : Precision::Ieee;
}

/// The loss of one step.
double lossOf(const Prepared& prepared) {
  const auto fetches = prepared.session->run(prepared.feeds);
  DFC_ASSERT(fetches.ok(), "a step was refused: " + render(fetches.errors()));
  return fetches->at("loss").at(0);
}

/// Times the steps, and looks at the losses before and after: times of NaNs would say nothing.
void measureTraining(const Prepared& prepared, const Sampling& sampling, Row& row) {
  const double first = lossOf(prepared);
  measureSteps(prepared, sampling, row);
  const double last = lossOf(prepared);
  row.checks.push_back(fact("the loss is finite", std::isfinite(first) && std::isfinite(last), true));
  row.notes.push_back(fmt::format("the loss of the one batch went from {:.4f} to {:.4f}", first, last));
}

/// The bytes of the largest arena of a GPU.
double gpuBytes(const Harness& harness, const Executable& plan) {
  double most = 0;
  for (const DeviceId device : plan.machine().devices.ids()) {
    if (llvm::is_contained(harness.gpus(), plan.machine().devices[device].name)) {
      most = std::max(most, static_cast<double>(plan.memory().arenaBytes[device]));
    }
  }
  return most;
}

enum class Devices : uint8_t { FirstGpu, All };

void timeLesson(Harness& harness, const std::string& key, const std::string& description,
                const std::string& precision, const FedGraph& work, Devices devices = Devices::FirstGpu) {
  harness.attempt(key, description, [&](Row& row) -> Status {
    Variation variation;
    variation.precision = precisionOf(precision);
    if (devices == Devices::FirstGpu) {
      variation.pins = {{"*", harness.gpus()[0]}};
    }
    auto prepared = harness.prepare(work.graph, variation);
    if (!prepared) {
      return prepared.errors();
    }
    prepared->feeds = work.feeds;
    measureTraining(*prepared, harness.requested({5, 10, 5}, {2, 1, 1}), row);
    row.bytes = gpuBytes(harness, *prepared->plan);
    return success();
  });
}

/// Checks the row `key`, on all GPUs, against `keyOfOne`, on one with its part of the batch.
void holdEfficiency(Harness& harness, const std::string& key, const std::string& keyOfOne, double least) {
  const auto alone = harness.report().seconds(keyOfOne);
  for (Row& row : harness.report().rows()) {
    if (row.program == "dfc" && row.key == key && row.time && alone) {
      row.checks.push_back(
          against(row, "one GPU with its part of the batch", *alone, harness.required(1 / least)));
    }
  }
}

template <class Case>
std::vector<std::string> keysOf(const std::vector<Case>& cases) {
  std::vector<std::string> keys;
  for (const Case& one : cases) {
    keys.push_back(one.key());
  }
  return keys;
}

} // namespace

std::vector<std::string> gptTrainingKeys(const Harness& harness) { return keysOf(gptCases(harness)); }

std::vector<std::string> resnetTrainingKeys(const Harness& harness) { return keysOf(resnetCases(harness)); }

std::vector<std::string> gptOnGpusKeys(const Harness& harness) {
  return {gptOfEachGpu(harness).keyOf("gpt_on_gpus", harness.gpus().size())};
}

std::vector<std::string> resnetOnGpusKeys(const Harness& harness) {
  return {resnetOfEachGpu(harness).keyOf("resnet_on_gpus", harness.gpus().size())};
}

std::vector<std::string> resnetArguments(const Harness& harness) {
  const resnet::Sizes sizes = resnetSizes(harness);
  return {"--width",   fmt::format("{}", sizes.width),   "--channels", fmt::format("{}", sizes.channels),
          "--classes", fmt::format("{}", sizes.classes), "--feed",     "host"};
}

void gptTraining(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("gpt_training", "GPT-2 on one GPU", "the machine has no GPU");
  }
  for (const GptCase& one : gptCases(harness)) {
    if (harness.wants(one.key())) {
      timeLesson(harness, one.key(),
                 fmt::format("GPT-2 ({}), one GPU, {}, {} windows of {} tokens", one.size, one.precision,
                             one.batch, one.context),
                 one.precision, gptStep(sizesOf(one), one.batch));
    }
  }
}

void resnetTraining(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("resnet_training", "ResNet on one GPU", "the machine has no GPU");
  }
  for (const ResnetCase& one : resnetCases(harness)) {
    if (harness.wants(one.key())) {
      resnet::Sizes sizes = resnetSizes(harness);
      sizes.depth = one.depth;
      sizes.image = one.image;
      timeLesson(harness, one.key(),
                 fmt::format("ResNet-{}, one GPU, {}, {} images of {}x{}", one.depth, one.precision,
                             one.batch, one.image, one.image),
                 one.precision, resnetStep(sizes, one.batch));
    }
  }
}

void gptOnGpus(Harness& harness) {
  if (harness.gpus().size() < 2) {
    return harness.lacking("gpt_on_gpus", "GPT-2 on all GPUs", "the machine has no second GPU");
  }
  constexpr double leastEfficiency = 0.97;
  const GptCase one = gptOfEachGpu(harness);
  const size_t gpus = harness.gpus().size();
  const std::string key = one.keyOf("gpt_on_gpus", gpus);
  if (harness.wants(key)) {
    const int64_t batch = one.batch * static_cast<int64_t>(gpus);
    timeLesson(harness, key,
               fmt::format("GPT-2 ({}), written for one device, {} GPUs, {}, {} windows of {} tokens",
                           one.size, gpus, one.precision, batch, one.context),
               one.precision, gptStep(sizesOf(one), batch), Devices::All);
    holdEfficiency(harness, key, one.key(), leastEfficiency);
  }
}

void resnetOnGpus(Harness& harness) {
  if (harness.gpus().size() < 2) {
    return harness.lacking("resnet_on_gpus", "ResNet on all GPUs", "the machine has no second GPU");
  }
  constexpr double leastEfficiency = 0.97;
  const ResnetCase one = resnetOfEachGpu(harness);
  const size_t gpus = harness.gpus().size();
  const std::string key = one.keyOf("resnet_on_gpus", gpus);
  if (harness.wants(key)) {
    resnet::Sizes sizes = resnetSizes(harness);
    sizes.depth = one.depth;
    sizes.image = one.image;
    const int64_t batch = one.batch * static_cast<int64_t>(gpus);
    timeLesson(harness, key,
               fmt::format("ResNet-{}, written for one device, {} GPUs, {}, {} images of {}x{}", one.depth,
                           gpus, one.precision, batch, one.image, one.image),
               one.precision, resnetStep(sizes, batch), Devices::All);
    holdEfficiency(harness, key, one.key(), leastEfficiency);
  }
}

} // namespace dfc::bench
