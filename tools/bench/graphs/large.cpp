#include "tools/bench/graphs/large.h"

#include "ir/author/dsl.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <random>

namespace dfc::bench {
namespace {

/// x0 + x1 + x2 in one op.
ops::Fused sumOfThree() {
  ops::Fused sum;
  sum.body.instructions.push_back({OpKind::Add, 0, ElementType::F32, {0, 1}});
  sum.body.instructions.push_back({OpKind::Add, 0, ElementType::F32, {3, 2}});
  return sum;
}

Tensor taskOf(Builder& g, Tensor start, const std::vector<Tensor>& before) {
  switch (before.size()) {
  case 0: return tanh(start);
  case 1: return tanh(before[0]);
  case 2: return before[0] + before[1];
  default: return g.op(sumOfThree(), before, std::source_location::current());
  }
}

constexpr size_t width = 32, layersOfScope = 4;
constexpr int64_t side = 64;

class ModelWriter {
 public:
  explicit ModelWriter(size_t ops) : g_("large model"), ops_(ops), random_(ops) {}

  Result<Graph> write() {
    std::vector<Tensor> layer;
    for (size_t i = 0; i < width; ++i) {
      const auto seed = static_cast<int64_t>(i);
      layer.push_back(g_.parameter(fmt::format("w{}", i), f32({side, side}), normal(0, 1, seed)));
    }
    for (size_t made = width, number = 0; made + width <= ops_ || number == 0; made += width, ++number) {
      const auto scope = g_.scope(fmt::format("block {}", number / layersOfScope));
      layer = next(layer);
    }
    for (size_t i = 0; i < width; ++i) {
      g_.fetch(fmt::format("result {}", i), layer[i]);
    }
    return std::move(g_).finish();
  }

 private:
  std::vector<Tensor> next(const std::vector<Tensor>& before) {
    std::vector<Tensor> layer;
    for (size_t i = 0; i < width; ++i) {
      layer.push_back(valueOf(before[i], before[random_() % width]));
    }
    return layer;
  }

  Tensor valueOf(Tensor a, Tensor b) {
    switch (random_() % 6) {
    case 0: return matmul(a, b);
    case 1: return a + b;
    case 2: return a * b;
    case 3: return max(a, b);
    case 4: return tanh(a);
    default: return sigmoid(a);
    }
  }

  Builder g_;
  size_t ops_;
  std::mt19937_64 random_;
};

} // namespace

Result<Graph> graphOf(const Dag& dag) {
  Builder g("tasks");
  const Tensor start = g.parameter("start", f32({1}));
  std::vector<Tensor> tasks;
  for (uint32_t task = 0; task < dag.count(); ++task) {
    std::vector<Tensor> before;
    for (uint32_t edge = dag.first[task]; edge < dag.first[task + 1]; ++edge) {
      before.push_back(tasks[dag.before[edge]]);
    }
    tasks.push_back(taskOf(g, start, before));
  }
  if (!tasks.empty()) {
    g.fetch("last", tasks.back()); // a graph needs a fetch or an assign
  }
  return std::move(g).finish();
}

Result<Graph> largeModel(size_t ops) { return ModelWriter(ops).write(); }

} // namespace dfc::bench
