// A1: 50 products on each GPU. A2: on both at once, nothing between them. A3: on one, every result copied to
// the host, which may cost no more than the longer of computing alone and copying alone.
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/products.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::bench {
namespace {

// Twelve times the same product is one product to the compiler; the experiment is about twelve.
Variation everyProduct() {
  Variation variation;
  variation.skipPasses = {"share_common_ops"};
  return variation;
}

ProductsSpec specOf(const Stage& stage, std::vector<std::string> devices) {
  return {std::move(devices), stage.sizes().product, stage.sizes().products, false};
}

std::string workOf(const Stage& stage) {
  return fmt::format("{0} products of {1}x{1} f32", stage.sizes().products, stage.sizes().product);
}

Status timeGraph(Stage& stage, const Result<Graph>& graph, const Variation& variation, Row& row) {
  const auto act = stage.prepare(graph, variation);
  if (!act) {
    return act.errors();
  }
  measureSteps(*act, stage.longSteps(), row);
  stage.checkPrediction(row);
  return success();
}

void oneGpu(Stage& stage, const std::string& gpu) {
  stage.attempt("A1/" + gpu, fmt::format("{} on {}", workOf(stage), gpu), [&](Row& row) {
    return timeGraph(stage, products(specOf(stage, {gpu})), everyProduct(), row);
  });
}

void bothGpus(Stage& stage) {
  const std::string what = workOf(stage) + " on each of two GPUs at once";
  if (stage.gpus().size() < 2) {
    return stage.lacking("A2/both", what, "the machine has no second GPU");
  }
  stage.attempt("A2/both", what, [&](Row& row) {
    Status status =
        timeGraph(stage, products(specOf(stage, {stage.gpus()[0], stage.gpus()[1]})), everyProduct(), row);
    const auto first = stage.report().seconds("A1/" + stage.gpus()[0]);
    const auto second = stage.report().seconds("A1/" + stage.gpus()[1]);
    if (status && first && second) {
      row.checks.push_back(against(row, "slower GPU alone", std::max(*first, *second), stage.required(1.01)));
    }
    return status;
  });
}

/// Room for the matrix and seven results: the others' turn comes when a result has left for the host.
Variation littleMemory(const Stage& stage) {
  Variation variation = everyProduct();
  variation.machine = stage.machine();
  const int64_t matrix = stage.sizes().product * stage.sizes().product * 4;
  int64_t& memory = variation.machine->devices[variation.machine->findDevice(stage.gpus()[0])].memoryBytes;
  memory = memory == 0 ? 8 * matrix : std::min(memory, 8 * matrix); // --memory may leave less
  return variation;
}

void withCopies(Stage& stage, const std::string& key, const std::string& remark, const Variation& variation) {
  const std::string what =
      fmt::format("{} on {}, all copied to the host{}", workOf(stage), stage.gpus()[0], remark);
  stage.attempt(key, what, [&](Row& row) {
    ProductsSpec spec = specOf(stage, {stage.gpus()[0]});
    spec.toHost = true;
    Status status = timeGraph(stage, products(spec), variation, row);
    const auto compute = stage.report().seconds("A1/" + stage.gpus()[0]);
    const auto copies = stage.report().seconds("A3/copies");
    if (status && compute && copies) {
      row.checks.push_back(against(row, *compute > *copies ? "computing alone" : "copying alone",
                                   std::max(*compute, *copies), stage.required(1.02)));
    }
    return status;
  });
}

} // namespace

void productsOnGpus(Stage& stage) {
  const bool copies = stage.wants("A3/copies") || stage.wants("A3/all") || stage.wants("A3/drained");
  if (stage.gpus().empty()) {
    for (const char* key : {"A1", "A2", "A3"}) {
      stage.lacking(key, workOf(stage), "the machine has no GPU");
    }
    return;
  }
  // A2 and A3 are held against A1, so they bring it along.
  for (size_t i = 0; i < stage.gpus().size(); ++i) {
    if (stage.wants("A1/" + stage.gpus()[i]) || (i < 2 && stage.wants("A2/both")) || (i == 0 && copies)) {
      oneGpu(stage, stage.gpus()[i]);
    }
  }
  if (stage.wants("A2/both")) {
    bothGpus(stage);
  }
  if (!copies) {
    return;
  }
  stage.attempt("A3/copies",
                fmt::format("{0} matrices of {1}x{1} f32 copied to the host, no computing",
                            stage.sizes().products, stage.sizes().product),
                [&](Row& row) {
                  return timeGraph(
                      stage, copiesToHost(stage.gpus()[0], stage.sizes().product, stage.sizes().products), {},
                      row);
                });
  withCopies(stage, "A3/all", "", everyProduct());
  const Variation little = littleMemory(stage);
  const int64_t memory = little.machine->devices[little.machine->findDevice(stage.gpus()[0])].memoryBytes;
  withCopies(stage, "A3/drained",
             fmt::format(", {:.3g} MB of device memory", 1e-6 * static_cast<double>(memory)), little);
}

} // namespace dfc::bench
