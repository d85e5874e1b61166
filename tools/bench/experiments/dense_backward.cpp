// The backward pass of a dense layer: a product times the derivative of relu or gelu, and the sum of that
// over its rows, which is the bias's gradient. Its baseline is one call of cuBLASLt with that epilogue.
#include "tools/bench/experiments/experiments.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

enum class Activation : uint8_t { Relu, Gelu };

/// dz [rows, columns] = activation'(h) * (dy [rows, inner] · transpose of w [columns, inner]), and the sums
/// of dz over its rows.
Result<Graph> graphOf(const LayerSizes& sizes, Activation activation, ElementType element,
                      const std::string& device) {
  Builder g("dense backward");
  const auto here = g.on(device);
  const auto random = [&](const std::string& name, const Shape& shape) {
    return g.parameter(name, {element, shape}, uniform(-1, 1, 1));
  };
  const Tensor h = random("h", {sizes.rows, sizes.columns}), dy = random("dy", {sizes.rows, sizes.inner}),
               w = random("w", {sizes.columns, sizes.inner});
  const Tensor passed = matmul(dy, transpose(w));
  const Tensor dz = activation == Activation::Relu
                        ? select(compare(h, 0, Direction::Gt), passed, 0)
                        : gradients(reduceSum(gelu(h, Approximation::Tanh) * passed), {h})[0];
  const Tensor sums = reduceSum(dz, {0});
  g.assign(g.parameter("dz", dz.type(), constantInit(0)), dz);
  g.assign(g.parameter("sums", sums.type(), constantInit(0)), sums);
  return std::move(g).finish();
}

struct Case {
  Activation activation;
  std::string precision;
  std::string name() const { return activation == Activation::Relu ? "relu" : "gelu"; }
  std::string key() const { return fmt::format("dense_backward/{}/{}", name(), precision); }
};

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const Activation activation : {Activation::Relu, Activation::Gelu}) {
    for (const char* precision : {"f32", "tf32", "f16", "bf16"}) {
      cases.push_back({activation, precision});
    }
  }
  return cases;
}

void timeOne(Harness& harness, const Case& one) {
  const ElementType element = one.precision == "f16"    ? ElementType::F16
                              : one.precision == "bf16" ? ElementType::BF16
                                                        : ElementType::F32;
  const LayerSizes& sizes = harness.sizes().layer;
  const std::string description =
      fmt::format("{} by {} of {}, {}, times the derivative of {}, and its sums", sizes.rows, sizes.columns,
                  sizes.inner, one.precision, one.name());
  harness.attempt(one.key(), description, [&](Row& row) -> Status {
    Variation variation;
    variation.precision = one.precision == "tf32" ? Precision::Tf32 : Precision::Ieee;
    const auto prepared =
        harness.prepare(graphOf(sizes, one.activation, element, harness.gpus()[0]), variation);
    if (!prepared) {
      return prepared.errors();
    }
    measureSteps(*prepared, harness.shortSteps(), row);
    return success();
  });
}

} // namespace

std::vector<std::string> denseBackwardKeys() {
  std::vector<std::string> keys;
  for (const Case& one : allCases()) {
    keys.push_back(one.key());
  }
  return keys;
}

void denseBackward(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("dense_backward", "a product, an activation's derivative and the bias's gradient",
                           "the machine has no GPU");
  }
  for (const Case& one : allCases()) {
    if (harness.wants(one.key())) {
      timeOne(harness, one);
    }
  }
}

} // namespace dfc::bench
