// Training steps of GPT-2 and of a ResNet, as lessons 6 and 7 write them, on one GPU: each size at each
// precision. Steps are fed from the host and submitted back to back.
#include "ir/plan/executable_parts.h"
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/lessons.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc::bench {
namespace {

struct GptCase {
  std::string size, precision;
  int64_t batch, context;
  std::string key() const { return fmt::format("gpt_training/{}/{}/{}x{}", size, precision, batch, context); }
};

struct ResnetCase {
  int64_t depth;
  std::string precision;
  int64_t batch, image;
  std::string key() const {
    return fmt::format("resnet_training/{}/{}/{}x{}", depth, precision, batch, image);
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

void timeLesson(Harness& harness, const std::string& key, const std::string& description,
                const std::string& precision, const FedGraph& work) {
  harness.attempt(key, description, [&](Row& row) -> Status {
    Variation variation;
    variation.precision = precisionOf(precision);
    variation.pins = {{"*", harness.gpus()[0]}};
    auto prepared = harness.prepare(work.graph, variation);
    if (!prepared) {
      return prepared.errors();
    }
    prepared->feeds = work.feeds;
    measureTraining(*prepared, harness.requested({5, 10, 5}, {2, 1, 1}), row);
    const Machine& machine = prepared->plan->machine();
    for (const DeviceId device : machine.devices.ids()) {
      if (machine.devices[device].name == harness.gpus()[0]) {
        row.bytes = static_cast<double>(prepared->plan->memory().arenaBytes[device]);
      }
    }
    return success();
  });
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

} // namespace dfc::bench
