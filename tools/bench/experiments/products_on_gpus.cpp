// products_on_gpu: products on each GPU alone. products_on_gpus: on two at once, independent of one another.
// drain_to_host: on one GPU, every result copied to the host, which may take no longer than the slower of
// computing alone and copying alone.
#include "tools/bench/experiments/experiments.h"
#include "tools/bench/graphs/products.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::bench {
namespace {

// All products are equal, so common subexpressions would leave one of them.
Variation everyProduct() {
  Variation variation;
  variation.skipPasses = {"share_common_ops"};
  return variation;
}

ProductsSpec specOf(const Harness& harness, std::vector<std::string> devices) {
  return {std::move(devices), harness.sizes().product, harness.sizes().products, false};
}

std::string workOf(const Harness& harness) {
  return fmt::format("{0} products of {1}x{1} f32", harness.sizes().products, harness.sizes().product);
}

Status timeGraph(Harness& harness, const Result<Graph>& graph, const Variation& variation, Row& row) {
  const auto prepared = harness.prepare(graph, variation);
  if (!prepared) {
    return prepared.errors();
  }
  measureSteps(*prepared, harness.longSteps(), row);
  harness.checkPrediction(row);
  return success();
}

/// Adds the row of one GPU, unless it is there: rows of several GPUs and of copies are held against it.
void oneGpu(Harness& harness, const std::string& gpu) {
  if (harness.report().has("products_on_gpu/" + gpu)) {
    return;
  }
  harness.attempt("products_on_gpu/" + gpu, fmt::format("{} on {}", workOf(harness), gpu), [&](Row& row) {
    return timeGraph(harness, products(specOf(harness, {gpu})), everyProduct(), row);
  });
}

/// Memory for the matrix and seven results: later products wait until a result has been copied to the host.
Variation smallMemory(const Harness& harness) {
  Variation variation = everyProduct();
  variation.machine = harness.machine();
  const int64_t matrix = harness.sizes().product * harness.sizes().product * 4;
  int64_t& memory = variation.machine->devices[variation.machine->findDevice(harness.gpus()[0])].memoryBytes;
  memory = memory == 0 ? 8 * matrix : std::min(memory, 8 * matrix); // --memory may leave less
  return variation;
}

void withCopies(Harness& harness, const std::string& key, const std::string& remark,
                const Variation& variation) {
  const std::string description =
      fmt::format("{} on {}, all copied to the host{}", workOf(harness), harness.gpus()[0], remark);
  harness.attempt(key, description, [&](Row& row) {
    ProductsSpec spec = specOf(harness, {harness.gpus()[0]});
    spec.toHost = true;
    Status status = timeGraph(harness, products(spec), variation, row);
    const auto compute = harness.report().seconds("products_on_gpu/" + harness.gpus()[0]);
    const auto copies = harness.report().seconds("drain_to_host/copies");
    if (status && compute && copies) {
      row.checks.push_back(against(row, *compute > *copies ? "computing alone" : "copying alone",
                                   std::max(*compute, *copies), harness.required(1.02)));
    }
    return status;
  });
}

} // namespace

void productsOnGpu(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("products_on_gpu", workOf(harness), "the machine has no GPU");
  }
  for (const std::string& gpu : harness.gpus()) {
    if (harness.wants("products_on_gpu/" + gpu)) {
      oneGpu(harness, gpu);
    }
  }
}

void productsOnGpus(Harness& harness) {
  const std::string description = workOf(harness) + " on each of two GPUs at once";
  if (harness.gpus().size() < 2) {
    return harness.lacking("products_on_gpus", description, "the machine has no second GPU");
  }
  if (!harness.wants("products_on_gpus")) {
    return;
  }
  const std::string &gpu0 = harness.gpus()[0], &gpu1 = harness.gpus()[1];
  oneGpu(harness, gpu0);
  oneGpu(harness, gpu1);
  harness.attempt("products_on_gpus", description, [&](Row& row) {
    Status status = timeGraph(harness, products(specOf(harness, {gpu0, gpu1})), everyProduct(), row);
    const auto first = harness.report().seconds("products_on_gpu/" + gpu0);
    const auto second = harness.report().seconds("products_on_gpu/" + gpu1);
    if (status && first && second) {
      row.checks.push_back(
          against(row, "slower GPU alone", std::max(*first, *second), harness.required(1.01)));
    }
    return status;
  });
}

void drainToHost(Harness& harness) {
  const Sizes& sizes = harness.sizes();
  if (harness.gpus().empty()) {
    return harness.lacking("drain_to_host", workOf(harness) + ", copied to the host",
                           "the machine has no GPU");
  }
  if (!harness.wants("drain_to_host/copies") && !harness.wants("drain_to_host/all") &&
      !harness.wants("drain_to_host/small_memory")) {
    return;
  }
  const std::string& gpu = harness.gpus()[0];
  oneGpu(harness, gpu);
  harness.attempt("drain_to_host/copies",
                  fmt::format("{0} matrices of {1}x{1} f32 copied to the host, no computing", sizes.products,
                              sizes.product),
                  [&](Row& row) {
                    return timeGraph(harness, copiesToHost(gpu, sizes.product, sizes.products), {}, row);
                  });
  withCopies(harness, "drain_to_host/all", "", everyProduct());
  const Variation small = smallMemory(harness);
  const int64_t memory = small.machine->devices[small.machine->findDevice(gpu)].memoryBytes;
  withCopies(harness, "drain_to_host/small_memory",
             fmt::format(", {:.3g} MB of device memory", 1e-6 * static_cast<double>(memory)), small);
}

} // namespace dfc::bench
