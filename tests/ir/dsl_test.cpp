// The C++ DSL: that it reads like mathematics, and that mistakes are located where they were written.
#include "ir/dsl.h"

#include "tests/support/catch.h"

#include <fmt/format.h>

using namespace dfc;

namespace {

Diagnostics errorsOf(Builder&& builder) { return std::move(builder).finish().errors(); }

} // namespace

TEST_CASE("dsl: a layer and a fetch") {
  Builder g("layer");
  const Tensor x = g.input("x", f32({64, 784}));
  const Tensor w = g.parameter("w", f32({784, 256}), glorot(1));
  const Tensor b = g.parameter("b", f32({256}));
  const Tensor h = relu(matmul(x, w) + b).named("h");
  g.fetch("h", h);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  CHECK(graph->opCount() == 6);
  CHECK(graph->typeOf(graph->findValue("h")) == f32({64, 256}));
  CHECK(graph->fetches().size() == 1);
}

TEST_CASE("dsl: every mistake is reported where it was written, and its results are passed over") {
  Builder g;
  const Tensor x = g.input("x", f32({64, 784}));
  const Tensor w = g.input("w", f32({785, 256}));
  const uint32_t line = __LINE__ + 1;
  const Tensor bad = matmul(x, w);
  const Tensor after = relu(bad) + 1;
  CHECK_FALSE(after.valid());
  const Tensor second = x + w;
  g.fetch("after", after);
  g.fetch("second", second);
  const Diagnostics errors = errorsOf(std::move(g));
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].message == "matmul of f32[64, 784] and f32[785, 256]: 784 columns meet 785 rows");
  CHECK(errors[0].hint == "transpose an operand (transposeA, transposeB) or mend a shape");
  CHECK(errors[0].where.file == __FILE__);
  CHECK(errors[0].where.line == line);
  CHECK(errors[1].where.line == line + 3);
  CHECK(errors[1].message ==
        "add of f32[64, 784] and f32[785, 256]: dimension 784 of [64, 784] meets 256 of [785, 256]");
}
