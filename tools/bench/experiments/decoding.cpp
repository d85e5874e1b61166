// Decoding with GPT-2 as lesson 6 writes it: one token a step, drawn on the device, with caches of keys and
// values in parameters. Weights and caches have the row's element type. Steps are submitted back to back.
#include "ir/author/text/print.h"
#include "ir/base/atomic_file.h"
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/lessons.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

struct DecodeCase {
  std::string size, element;
  int64_t context;
  std::string key() const { return fmt::format("gpt_decode/{}/{}/1x{}", size, element, context); }
};

std::vector<DecodeCase> casesOf(const Harness& harness) {
  if (!harness.required(1)) {
    return {{"small", "f32", 64}};
  }
  return {{"124M", "f32", 1024}, {"124M", "bf16", 1024}, {"124M", "int8", 1024}, {"124M", "int4", 1024}};
}

gpt::Sizes sizesOf(const DecodeCase& one) {
  gpt::Sizes sizes;
  if (one.size == "124M") {
    sizes = {.layers = 12, .heads = 12, .width = 768, .vocabulary = 50304};
  }
  sizes.context = one.context;
  sizes.element = one.element == "bf16" ? ElementType::BF16 : ElementType::F32;
  if (one.element.starts_with("int")) {
    sizes.quantized = one.element == "int8" ? Quantization{8} : Quantization{4, 32};
  }
  return sizes;
}

Status writeGraph(const Harness& harness, const DecodeCase& one, const Graph& graph) {
  if (harness.graphs().empty()) {
    return success();
  }
  return writeFileAtomically(fmt::format("{}/gpt_decode-{}-{}.dfg", harness.graphs(), one.size, one.element),
                             printGraph(graph));
}

/// Texts of `context` tokens: a text is at most as long as all samples together.
Status measure(Harness& harness, const DecodeCase& one, Row& row) {
  Variation variation;
  variation.pins = {{"*", harness.gpus()[0]}};
  const FedGraph work = gptDecode(sizesOf(one));
  if (work.graph) {
    if (const Status written = writeGraph(harness, one, *work.graph); !written) {
      return written;
    }
  }
  auto prepared = harness.prepare(work.graph, variation);
  if (!prepared) {
    return prepared.errors();
  }
  if (const Status set = setQuantized(*prepared->session, sizesOf(one)); !set) {
    return set;
  }
  measureSteps(*prepared, harness.requested({7, 100, 20}, {2, 1, 1}), row);
  const auto fetches = prepared->session->run({});
  if (!fetches) {
    return fetches.errors();
  }
  const double token = fetches->at("token").at(0);
  row.checks.push_back(fact("a token of the vocabulary",
                            token >= 0 && token < static_cast<double>(sizesOf(one).vocabulary), true));
  return success();
}

} // namespace

std::vector<std::string> gptDecodeKeys(const Harness& harness) {
  std::vector<std::string> keys;
  for (const DecodeCase& one : casesOf(harness)) {
    if (!sizesOf(one).quantized) { // nothing for quantised weights is installed with the frameworks
      keys.push_back(one.key());
    }
  }
  return keys;
}

void gptDecoding(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("gpt_decode", "GPT-2, a token, on one GPU", "the machine has no GPU");
  }
  for (const DecodeCase& one : casesOf(harness)) {
    if (harness.wants(one.key())) {
      harness.attempt(one.key(),
                      fmt::format("GPT-2 ({}), a token on one GPU, weights in {}, a cache of {} tokens",
                                  one.size, one.element, one.context),
                      [&](Row& row) { return measure(harness, one, row); });
    }
  }
}

} // namespace dfc::bench
