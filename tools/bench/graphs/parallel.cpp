#include "tools/bench/graphs/parallel.h"

#include "ir/author/dsl.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace dfc::bench {
namespace {

// Entries of about 1 / size keep products of any number of factors within range.
Initialiser smallNumbers(int64_t size, int64_t seed) {
  return uniform(0, 2.0 / static_cast<double>(size), seed);
}

class DagWriter {
 public:
  DagWriter(uint64_t seed, int64_t size, const std::vector<std::string>& devices)
      : g_("random dag"), random_(seed), size_(size), devices_(devices) {}

  Result<Graph> write(int ops) {
    for (int64_t i = 0; i < 4; ++i) {
      const auto here = g_.on(devices_[0]);
      values_.push_back(g_.parameter(fmt::format("x{}", i), f32({size_, size_}), smallNumbers(size_, i + 1)));
    }
    for (int i = 0; i < ops; ++i) {
      const auto here = g_.on(devices_[random_() % 64 % devices_.size()]);
      values_.push_back(next());
    }
    for (size_t i = 0; i < 8 && i < values_.size(); ++i) {
      g_.fetch(fmt::format("y{}", i), values_[values_.size() - 1 - i]);
    }
    return std::move(g_).finish();
  }

 private:
  Tensor recent() {
    const size_t among = std::min<size_t>(8, values_.size());
    return values_[values_.size() - 1 - random_() % among];
  }

  Tensor next() {
    const Tensor a = recent(), b = recent();
    switch (random_() % 5) {
    case 0: return tanh(a + b);
    case 1: return relu(a) - b * 0.5;
    case 2: return max(a, b) * 0.75;
    default: return matmul(a, b);
    }
  }

  Builder g_;
  std::mt19937_64 random_; // the same numbers on every platform, unlike the distributions
  int64_t size_;
  const std::vector<std::string>& devices_;
  std::vector<Tensor> values_;
};

} // namespace

Result<Graph> independentProducts(int count, int64_t size) {
  Builder g("independent products");
  for (int i = 0; i < count; ++i) {
    const Tensor x = g.parameter(fmt::format("x{}", i), f32({size, size}), smallNumbers(size, i + 1));
    const Tensor y = g.parameter(fmt::format("y{}", i), f32({size, size}));
    g.assign(y, matmul(x, x).named(fmt::format("product {}", i)));
  }
  return std::move(g).finish();
}

Result<Graph> gpuAndCpuPipeline(const std::string& gpu, const std::string& cpu, int64_t size, int stages) {
  Builder g("all at once");
  const Tensor factor = g.parameter("x", f32({size, size}), smallNumbers(size, 1)).on(gpu);
  Tensor product = factor;
  for (int i = 0; i < stages; ++i) {
    product = matmul(product, factor).on(gpu);
    const Tensor again = matmul(product, product).on(cpu);
    g.fetch(fmt::format("sum {}", i), reduceSum(again).on(cpu));
  }
  return std::move(g).finish();
}

Result<Graph> randomDag(uint64_t seed, int ops, int64_t size, const std::vector<std::string>& devices) {
  return DagWriter(seed, size, devices).write(ops);
}

} // namespace dfc::bench
