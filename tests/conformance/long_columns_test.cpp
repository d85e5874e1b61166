// Softmax along columns too long for a block, at sizes at which a GPU's blocks wait for one another
// (compiler/lower/kernels/rows/columns_softmax.cpp). The reference is a sum in double of the columns that are
// looked at.
#include "tests/conformance/contenders.h"
#include "tests/conformance/require_plan.h"

#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"

#include <cmath>
#include <span>

using namespace dfc;
using namespace dfc::test;

namespace {

struct Sizes {
  int64_t outer, classes, inner;
  TensorType type() const { return f32({outer, classes, inner}); }
};

// The last part is shorter, the last slab not whole; the second has slabs of two outer indices.
constexpr Sizes several{1, 4100, 6404}, longest{2, 16800, 772};

Literal filled(const Sizes& sizes, uint32_t seed) {
  Literal literal(sizes.type());
  const std::span<float> values(reinterpret_cast<float*>(literal.mutableBytes().data()),
                                static_cast<size_t>(sizes.outer * sizes.classes * sizes.inner));
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 8) * 0x1p-21F - 4.0F;
  }
  return literal;
}

/// Column `inner` of `outer`, by the definition.
void checkColumn(const Sizes& sizes, const Literal& x, const Literal& y, bool logarithm, int64_t outer,
                 int64_t inner) {
  const auto at = [&](int64_t c) { return (outer * sizes.classes + c) * sizes.inner + inner; };
  double sum = 0;
  for (int64_t c = 0; c < sizes.classes; ++c) {
    sum += std::exp(x.at(at(c)));
  }
  for (int64_t c = 0; c < sizes.classes; ++c) {
    const double wanted = logarithm ? x.at(at(c)) - std::log(sum) : std::exp(x.at(at(c))) / sum;
    const double off = std::fabs(y.at(at(c)) - wanted);
    if (!(off <= 4e-6 * std::fabs(wanted))) {
      FAIL_CHECK("class " << c << " of column " << inner << " of " << outer << ": expected " << wanted
                          << ", got " << y.at(at(c)));
      return;
    }
  }
}

void checkAll(const Sizes& sizes, const Literal& x, const Literal& y, bool logarithm) {
  for (int64_t outer = 0; outer < sizes.outer; ++outer) {
    for (const int64_t inner : {int64_t{0}, int64_t{63}, int64_t{64}, sizes.inner / 2, sizes.inner - 1}) {
      checkColumn(sizes, x, y, logarithm, outer, inner);
    }
  }
}

/// softmax and logSoftmax of "x", which are ready at once and need not wait for one another.
Graph both(const Sizes& sizes) {
  Builder g("columns");
  const auto here = std::source_location::current();
  const Tensor x = g.input("x", sizes.type());
  g.fetch("softened", g.op(ops::Softmax{{}, 1}, {x}, here));
  g.fetch("logarithm", g.op(ops::LogSoftmax{{}, 1}, {x}, here));
  return *std::move(g).finish();
}

} // namespace

TEST_CASE("softmax and logSoftmax of long columns are right, side by side and step after step", "[heavy]") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (const Sizes& sizes : {several, longest}) {
      INFO(contender.name << ", " << sizes.classes << " classes");
      CompileOptions options;
      options.policy = "pins";
      options.pins = {{"*", contender.devices().back()}};
      const auto session =
          Session::open(requirePlan(both(sizes), contender.machine(2), options), contender.options());
      INFO(render(session.errors()));
      REQUIRE(session.ok());
      const NamedLiterals some = {{"x", filled(sizes, 1)}}, others = {{"x", filled(sizes, 3)}};
      const auto first = (*session)->run(some), second = (*session)->run(others),
                 again = (*session)->run(some);
      REQUIRE(first.ok());
      REQUIRE(second.ok());
      REQUIRE(again.ok());
      checkAll(sizes, some.at("x"), first->at("softened"), false);
      checkAll(sizes, some.at("x"), first->at("logarithm"), true);
      checkAll(sizes, others.at("x"), second->at("softened"), false);
      checkAll(sizes, others.at("x"), second->at("logarithm"), true);
      CHECK(bitDifference(first->at("softened"), again->at("softened")) == "");
      CHECK(bitDifference(first->at("logarithm"), again->at("logarithm")) == "");
    }
  }
}
