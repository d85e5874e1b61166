// Products that end in gelu's tanh form, and products that its slope multiplies, against plain sums in f64:
// wherever the compiler joins them, and whether a backend's library ends them (cuBLASLt on a GPU, for f16,
// bf16 and tf32, where a calibration found that quicker) or a kernel does.
#include "tests/conformance/bounds.h"
#include "tests/conformance/contenders.h"
#include "tests/conformance/product_sums.h"
#include "tests/conformance/require_plan.h"

#include "ir/author/gelu_slope.h"
#include "ir/author/gradient_rules.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "runtime/backend.h"
#include "runtime/cuda/launches/epilogue.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

using namespace dfc;
using namespace dfc::test;

namespace {

struct Arithmetic {
  ElementType element;
  bool tf32 = false;

  /// Distance from 1 to the next number of what a product's factors and result are rounded to.
  double rounding() const { return tf32 ? 0x1p-10 : epsilonOf(element); }
};
constexpr std::array arithmetics = {Arithmetic{ElementType::F16}, Arithmetic{ElementType::BF16},
                                    Arithmetic{ElementType::F32}, Arithmetic{ElementType::F32, true},
                                    Arithmetic{ElementType::F64}};

constexpr std::array sizes = {ProductSizes{48, 64, 32, false, false}, ProductSizes{65, 136, 72, true, false},
                              ProductSizes{128, 256, 64, false, true}, ProductSizes{33, 20, 40, true, true},
                              ProductSizes{256, 512, 128, false, true}};

/// What goes in: a and b give products of a few units, h is of that size too.
struct Values {
  Literal a, b, bias, h;

  Values(const Arithmetic& in, const ProductSizes& size, uint64_t seed) {
    Dice dice(seed);
    const auto some = [&](const Shape& shape, double scale) {
      Literal literal({in.element, shape});
      for (int64_t i = 0; i < shape.elements(); ++i) {
        literal.set(i, scale * (2 * dice.unit() - 1));
      }
      return literal;
    };
    a = some(size.ofA(), 2);
    b = some(size.ofB(), 4 / std::sqrt(size.inner));
    bias = some({size.columns}, 2);
    h = some({size.rows, size.columns}, 6);
  }
};

/// What the product may be off by before anything follows: its accumulator, its factors in tf32, its result.
double errorOf(const Arithmetic& in, const ProductSizes& size, const TermSum& sum) {
  const double unit = in.element == ElementType::F64 ? 0x1p-53 : 0x1p-24;
  return sum.magnitude * (static_cast<double>(size.inner) * unit + (in.tf32 ? 0x1p-10 : 0)) +
         epsilonOf(in.element) * std::fabs(sum.value);
}

double inner(double x) { return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x); }
double geluOf(double x) { return x / 2 * (1 + std::tanh(inner(x))); }
double slopeOf(double x) {
  const double t = std::tanh(inner(x)), bent = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
  return std::fabs(x) > 12 ? (x > 0 ? 1 : 0) : (1 + t) / 2 + x * (1 - t * t) * bent / 2;
}
constexpr double steepest = 1.13; // of gelu's slopes

Tensor productOf(Builder& g, const Arithmetic& in, const ProductSizes& size, const Values& values) {
  const ops::Matmul op = size.matmul(in.tf32 ? ops::Precision::Tf32 : ops::Precision::Ieee);
  return g.op(op, {g.input("a", values.a.type()), g.input("b", values.b.type())},
              std::source_location::current());
}

/// gelu(a·b + bias)
Graph layer(const Arithmetic& in, const ProductSizes& size, const Values& values) {
  Builder g("layer");
  const Tensor sum = productOf(g, in, size, values) + g.input("bias", values.bias.type());
  g.fetch("y", gelu(sum, Approximation::Tanh));
  return *std::move(g).finish();
}

/// a·b times the slope of gelu at h: what the gradient rule of gelu makes of the gradient a·b.
Graph slope(const Arithmetic& in, const ProductSizes& size, const Values& values) {
  Builder g("slope");
  ops::Gelu tanhForm;
  tanhForm.approximate = Approximation::Tanh;
  const Tensor y = gelu(g.input("h", values.h.type()), tanhForm.approximate);
  const Graph& written = g.graph().soFar();
  GradientRule rule(g, written[y.value()].producer, {productOf(g, in, size, values)});
  applyGradient(tanhForm, rule);
  g.fetch("y", rule.gradients()[0]);
  return *std::move(g).finish();
}

std::shared_ptr<const Executable> planned(const Graph& graph, const Contender& contender) {
  CompileOptions options;
  options.policy = "pins";
  options.pins = {{"*", contender.devices().back()}};
  return requirePlan(graph, contender.machine(), options);
}

/// The one fused product of a plan.
OpId fusedProductOf(const Graph& graph) {
  OpId found;
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == OpKind::FusedMatmul) {
      REQUIRE_FALSE(found.valid());
      found = op;
    }
  }
  REQUIRE(found.valid());
  return found;
}

/// As if a calibration had found who ends the product sooner.
SessionOptions optionsFor(const Executable& plan, const Contender& contender, bool byLibrary) {
  SessionOptions options = contender.options();
  Machine host = smallMachine(0, 1, 1);
  contender.backend->describeHost(host, /*measure=*/false);
  const OpId product = fusedProductOf(plan.graph());
  Calibration table;
  for (const DeviceRow& device : host.devices) { // the last one is a GPU, where there are real ones
    table.device = device.model;
  }
  table.keep({{signatureOf(plan.graph(), product), 1e-6, cuda::withEnding("", byLibrary)}});
  options.backendOptions.calibration = std::make_shared<const Calibration>(std::move(table));
  return options;
}

Literal resultOf(const std::shared_ptr<const Executable>& plan, const SessionOptions& options,
                 const NamedLiterals& feeds) {
  const auto session = Session::open(plan, options);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  const auto results = (*session)->run(feeds);
  REQUIRE(results.ok());
  const Literal first = results->at("y");
  CHECK(bitDifference(first, (*session)->run(feeds)->at("y")) == "");
  return first;
}

/// `wanted(i, sum)`: what element i is, and what it may be off by.
template <class Wanted>
void checkAll(const Literal& actual, const Values& values, const ProductSizes& size, const Wanted& wanted) {
  for (int64_t i = 0; i < size.rows * size.columns; ++i) {
    const auto [value, allowed] =
        wanted(i, sumAt(size, values.a, values.b, i / size.columns, i % size.columns));
    if (!(std::fabs(actual.at(i) - value) <= allowed)) {
      FAIL_CHECK("element " << i << ": expected " << value << ", got " << actual.at(i) << ", off by "
                            << std::fabs(actual.at(i) - value) << " where " << allowed << " is allowed");
      return;
    }
  }
}

/// Of a GPU's products also those that either ends.
std::vector<Literal> resultsOf(const std::shared_ptr<const Executable>& plan, const Contender& contender,
                               const NamedLiterals& feeds) {
  std::vector<Literal> results = {resultOf(plan, contender.options(), feeds)};
  if (contender.kind == DeviceKind::Gpu) {
    for (const bool byLibrary : {false, true}) {
      results.push_back(resultOf(plan, optionsFor(*plan, contender, byLibrary), feeds));
    }
  }
  return results;
}

template <class Check>
void forAll(const Check& check) {
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (const Arithmetic& in : arithmetics) {
      for (const ProductSizes& size : sizes) {
        INFO(contender.name << ", " << name(in.element) << (in.tf32 ? " by tf32, " : ", ") << size.rows
                            << " by " << size.columns << " of " << size.inner);
        check(contender, in, size);
      }
    }
  }
}

void checkSlope(const Contender& contender, const Arithmetic& in, const ProductSizes& size,
                const Values& values) {
  const auto plan = planned(slope(in, size, values), contender);
  const OpId product = fusedProductOf(plan->graph());
  REQUIRE(geluSlopeOf(plan->graph(), product));
  for (const Literal& y : resultsOf(plan, contender, {{"a", values.a}, {"b", values.b}, {"h", values.h}})) {
    // Kernels round every step of the slope to the type, and 1 - t * t magnifies what t is off by.
    checkAll(y, values, size, [&](int64_t i, const TermSum& sum) {
      return std::pair(sum.value * slopeOf(values.h.at(i)),
                       steepest * errorOf(in, size, sum) + 8 * in.rounding() * std::fabs(sum.value));
    });
  }
}

} // namespace

TEST_CASE("products that end in gelu's tanh form are right to their type's rounding") {
  forAll([](const Contender& contender, const Arithmetic& in, const ProductSizes& size) {
    const Values values(in, size, static_cast<uint64_t>(size.rows));
    const auto plan = planned(layer(in, size, values), contender);
    fusedProductOf(plan->graph());
    const NamedLiterals feeds = {{"a", values.a}, {"b", values.b}, {"bias", values.bias}};
    for (const Literal& y : resultsOf(plan, contender, feeds)) {
      checkAll(y, values, size, [&](int64_t i, const TermSum& sum) {
        const double z = sum.value + values.bias.at(i % size.columns);
        return std::pair(geluOf(z), steepest * errorOf(in, size, sum) + 3 * in.rounding() * std::fabs(z));
      });
    }
  });
}

TEST_CASE("products times the slope of gelu's tanh form are right to their type's rounding") {
  forAll([](const Contender& contender, const Arithmetic& in, const ProductSizes& size) {
    checkSlope(contender, in, size, Values(in, size, static_cast<uint64_t>(size.columns)));
  });
}

TEST_CASE("the slope of gelu's tanh form is 0 or 1 at arguments of any size") {
  forAll([](const Contender& contender, const Arithmetic& in, const ProductSizes& size) {
    Values values(in, size, 5);
    const double most = in.element == ElementType::F16 ? 6e4 : 3e38;
    double next = 12;
    for (int64_t i = 0; i < size.rows * size.columns; ++i) {
      values.h.set(i, i % 2 == 0 ? next : -next);
      next = next * 1.7 > most ? 12 : next * 1.7;
    }
    checkSlope(contender, in, size, values);
  });
}
