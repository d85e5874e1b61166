// Products followed by gelu's tanh form or multiplied by its derivative, against plain sums in f64: wherever
// the compiler fuses them, and whether the first is an epilogue of a library (cuBLASLt on a GPU, for f16,
// bf16 and tf32) or a kernel's.
#include "tests/conformance/bounds.h"
#include "tests/conformance/contenders.h"
#include "tests/conformance/products/product_sums.h"
#include "tests/conformance/require_plan.h"

#include "ir/author/gradient_rules.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "runtime/backend.h"
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
double derivativeAt(double x) {
  const double t = std::tanh(inner(x)), bent = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
  return std::fabs(x) > 12 ? (x > 0 ? 1 : 0) : (1 + t) / 2 + x * (1 - t * t) * bent / 2;
}
constexpr double steepest = 1.13; // of gelu's derivatives

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

/// a·b times the derivative of gelu at h: what the gradient rule of gelu makes of the gradient a·b.
Graph backward(const Arithmetic& in, const ProductSizes& size, const Values& values) {
  Builder g("backward");
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

/// A plan has one fused product.
void requireOneFusedProduct(const Graph& graph) {
  size_t found = 0;
  for (const OpId op : graph.ops()) {
    found += graph[op].kind() == OpKind::FusedMatmul ? 1 : 0;
  }
  REQUIRE(found == 1);
}

Literal resultOf(const std::shared_ptr<const Executable>& plan, const Contender& contender,
                 const NamedLiterals& feeds) {
  const auto session = Session::open(plan, contender.options());
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

void checkDerivative(const Contender& contender, const Arithmetic& in, const ProductSizes& size,
                     const Values& values) {
  const auto plan = planned(backward(in, size, values), contender);
  requireOneFusedProduct(plan->graph());
  const Literal y = resultOf(plan, contender, {{"a", values.a}, {"b", values.b}, {"h", values.h}});
  // Kernels round every operation of the derivative to the type, and 1 - t * t magnifies what t is off by.
  checkAll(y, values, size, [&](int64_t i, const TermSum& sum) {
    return std::pair(sum.value * derivativeAt(values.h.at(i)),
                     steepest * errorOf(in, size, sum) + 8 * in.rounding() * std::fabs(sum.value));
  });
}

} // namespace

TEST_CASE("products that end in gelu's tanh form are right to their type's rounding") {
  forAll([](const Contender& contender, const Arithmetic& in, const ProductSizes& size) {
    const Values values(in, size, static_cast<uint64_t>(size.rows));
    const auto plan = planned(layer(in, size, values), contender);
    requireOneFusedProduct(plan->graph());
    const NamedLiterals feeds = {{"a", values.a}, {"b", values.b}, {"bias", values.bias}};
    checkAll(resultOf(plan, contender, feeds), values, size, [&](int64_t i, const TermSum& sum) {
      const double z = sum.value + values.bias.at(i % size.columns);
      return std::pair(geluOf(z), steepest * errorOf(in, size, sum) + 3 * in.rounding() * std::fabs(z));
    });
  });
}

TEST_CASE("products times the derivative of gelu's tanh form are right to their type's rounding") {
  forAll([](const Contender& contender, const Arithmetic& in, const ProductSizes& size) {
    checkDerivative(contender, in, size, Values(in, size, static_cast<uint64_t>(size.columns)));
  });
}

TEST_CASE("the derivative of gelu's tanh form is 0 or 1 at arguments of any size") {
  forAll([](const Contender& contender, const Arithmetic& in, const ProductSizes& size) {
    Values values(in, size, 5);
    const double most = in.element == ElementType::F16 ? 6e4 : 3e38;
    double next = 12;
    for (int64_t i = 0; i < size.rows * size.columns; ++i) {
      values.h.set(i, i % 2 == 0 ? next : -next);
      next = next * 1.7 > most ? 12 : next * 1.7;
    }
    checkDerivative(contender, in, size, values);
  });
}
