// K2: a product times the slope of relu or gelu, and the bias's gradient, which is the sum of that over its
// rows: what backward passes of dense layers are made of. Beside one call of cuBLASLt that ends so.
#include "tools/bench/experiments/experiments.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

enum class Slope : uint8_t { Relu, Gelu };

/// dz [rows, columns] = slope(h) * dy [rows, inner] · the transpose of w [columns, inner], and dz's sums.
Result<Graph> graphOf(const LayerSizes& sizes, Slope slope, ElementType element, const std::string& device) {
  Builder g("ended");
  const auto here = g.on(device);
  const auto random = [&](const std::string& name, const Shape& shape) {
    return g.parameter(name, {element, shape}, uniform(-1, 1, 1));
  };
  const Tensor h = random("h", {sizes.rows, sizes.columns}), dy = random("dy", {sizes.rows, sizes.inner}),
               w = random("w", {sizes.columns, sizes.inner});
  const Tensor passed = matmul(dy, transpose(w));
  const Tensor dz = slope == Slope::Relu
                        ? select(compare(h, 0, Direction::Gt), passed, 0)
                        : gradients(reduceSum(gelu(h, Approximation::Tanh) * passed), {h})[0];
  const Tensor sums = reduceSum(dz, {0});
  g.assign(g.parameter("dz", dz.type(), constantInit(0)), dz);
  g.assign(g.parameter("sums", sums.type(), constantInit(0)), sums);
  return std::move(g).finish();
}

struct Case {
  Slope slope;
  std::string precision;
  std::string name() const { return slope == Slope::Relu ? "relu" : "gelu"; }
  std::string key() const { return fmt::format("K2/{}/{}", name(), precision); }
};

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const Slope slope : {Slope::Relu, Slope::Gelu}) {
    for (const char* precision : {"f32", "tf32", "f16", "bf16"}) {
      cases.push_back({slope, precision});
    }
  }
  return cases;
}

void timeOne(Stage& stage, const Case& one) {
  const ElementType element = one.precision == "f16"    ? ElementType::F16
                              : one.precision == "bf16" ? ElementType::BF16
                                                        : ElementType::F32;
  const LayerSizes& sizes = stage.sizes().layer;
  const std::string what = fmt::format("{} by {} of {}, {}, times {}'s slope, and its sums", sizes.rows,
                                       sizes.columns, sizes.inner, one.precision, one.name());
  stage.attempt(one.key(), what, [&](Row& row) -> Status {
    Variation variation;
    variation.tf32 = one.precision == "tf32";
    const auto act = stage.prepare(graphOf(sizes, one.slope, element, stage.gpus()[0]), variation);
    if (!act) {
      return act.errors();
    }
    measureSteps(*act, stage.shortSteps(), row);
    return success();
  });
}

} // namespace

std::vector<std::string> endedProductKeys() {
  std::vector<std::string> keys;
  for (const Case& one : allCases()) {
    keys.push_back(one.key());
  }
  return keys;
}

void endedProducts(Stage& stage) {
  if (stage.gpus().empty()) {
    return stage.lacking("K2", "products times slopes", "the machine has no GPU");
  }
  for (const Case& one : allCases()) {
    if (stage.wants(one.key())) {
      timeOne(stage, one);
    }
  }
}

} // namespace dfc::bench
