// Quantised weights: what they dequantise to, their product by formula and by kernel, and what is refused.
#include "ir/author/quantized.h"

#include "compiler/compile.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "runtime/session.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

struct Case {
  Quantization how;
  int64_t rows; ///< of a
};

Literal randomMatrix(const Shape& shape, uint64_t seed) {
  Dice dice(seed);
  return randomLiteral(f32(shape), dice);
}

/// The integers and scales by plain loops.
double elementOf(const QuantizedMatrix& matrix, const Quantization& how, int64_t row, int64_t k,
                 int64_t inner) {
  const int64_t runs = matrix.scales.type().shape[1], run = k / (inner / runs);
  const auto bytes = matrix.weights.data<uint8_t>();
  const uint8_t byte = bytes[static_cast<size_t>((row * inner + k) / (8 / how.bits))];
  const int q = how.bits == 8 ? byte - 128 : (k % 2 == 0 ? byte & 15 : byte >> 4) - 8;
  return q * matrix.scales.at(row * runs + run);
}

} // namespace

TEST_CASE("quantize: every element is within half a step of its run") {
  const Literal matrix = randomMatrix({5, 24}, 1);
  for (const Quantization how : {Quantization{8}, Quantization{8, 6}, Quantization{4}, Quantization{4, 8}}) {
    const auto made = quantize(matrix, how);
    REQUIRE(made);
    CHECK(made->weights.type() == TensorType{ElementType::U8, {5, 24 * how.bits / 8}});
    const int64_t runs = made->scales.type().shape[1];
    CHECK(runs == (how.group == 0 ? 1 : 24 / how.group));
    for (int64_t i = 0; i < 5 * 24; ++i) {
      const double scale = made->scales.at(i / (24 / runs));
      CHECK(std::fabs(elementOf(*made, how, i / 24, i % 24, 24) - matrix.at(i)) <= scale * 0.501);
    }
  }
}

TEST_CASE("quantize: runs of zeros stay zeros, and what is not finite stays not finite") {
  Literal matrix(f32({2, 4}));
  matrix.set(5, INFINITY);
  const auto made = quantize(matrix);
  REQUIRE(made);
  CHECK(made->scales.at(0) == 0);
  CHECK(std::isnan(made->scales.at(1)));
}

TEST_CASE("quantize: what is no matrix, other bits and other groups are refused with a way out") {
  CHECK_FALSE(quantize(Literal(f32({4}))));
  CHECK_FALSE(quantize(Literal(i64({2, 2}))));
  CHECK_FALSE(quantize(Literal(f32({2, 4})), {6}));
  CHECK_FALSE(quantize(Literal(f32({2, 4})), {8, 3}));
  const auto odd = quantize(Literal(f32({2, 6})), {4, 3});
  REQUIRE_FALSE(odd);
  CHECK(odd.errors().front().message == "groups of 3 in rows of 6 elements of 4 bits");
  CHECK(odd.errors().front().hint == "give an even length that divides the row");
}

TEST_CASE(
    "quantizedMatmul: few rows by a kernel, many by the formula, each the product of what is dequantised") {
  const int64_t inner = 96, columns = 37;
  for (const Case& one : {Case{{8}, 1}, Case{{8, 32}, 3}, Case{{4}, 2}, Case{{4, 16}, 1}, Case{{8}, 40}}) {
    const Literal a = randomMatrix({one.rows, inner}, 2);
    const auto weights = quantize(randomMatrix({columns, inner}, 3), one.how);
    REQUIRE(weights);
    Builder g("quantized");
    const Tensor x = g.input("x", a.type());
    const Tensor q = g.input("q", weights->weights.type()), scales = g.input("s", weights->scales.type());
    g.fetch("y", quantizedMatmul(x, q, scales, one.how.bits));
    g.fetch("whole", dequantized(q, scales, one.how.bits));
    const auto graph = std::move(g).finish();
    REQUIRE(graph);
    Machine machine;
    DeviceRow host;
    host.name = "cpu0";
    host.kind = DeviceKind::Cpu;
    host.threads = 2;
    machine.devices.add(host);
    auto plan = compile(*graph, machine, RooflineCostModel(), {});
    REQUIRE(plan);
    auto session = Session::open(std::make_shared<const Executable>(std::move(*plan)));
    REQUIRE(session);
    const auto fetches = (*session)->run({{"x", a}, {"q", weights->weights}, {"s", weights->scales}});
    REQUIRE(fetches);
    const Literal &y = fetches->at("y"), &whole = fetches->at("whole");
    for (int64_t i = 0; i < one.rows * columns; ++i) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < inner; ++k) {
        const double element = elementOf(*weights, one.how, i % columns, k, inner);
        CHECK(std::fabs(whole.at(i % columns * inner + k) - element) <= 1e-6 * std::fabs(element));
        sum += a.at(i / columns * inner + k) * element;
        magnitude += std::fabs(a.at(i / columns * inner + k) * element);
      }
      CHECK(std::fabs(y.at(i) - sum) <= 1e-5 * magnitude);
    }
  }
}
