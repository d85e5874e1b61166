// fusedMatmul: what its rule takes and refuses, what it costs, and which operands it may overwrite.
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/in_place.h"
#include "tests/support/catch.h"

using namespace dfc;

namespace {

using Types = std::vector<TensorType>;

ops::FusedMatmul fusedMatmul(std::string_view body, bool transposeA = false) {
  ops::FusedMatmul op;
  op.transposeA = transposeA;
  REQUIRE(op.body.decode(body));
  return op;
}

TensorType typeOf(const ops::FusedMatmul& op, const Types& operands) {
  const TypeResult result = resultTypes(op, operands);
  INFO(result.error);
  REQUIRE(result.ok());
  return result.types.front();
}

std::string errorOf(const ops::FusedMatmul& op, const Types& operands) {
  const TypeResult result = resultTypes(op, operands);
  CHECK(result.ok() == result.hint.empty());
  return result.error;
}

} // namespace

TEST_CASE("fusedMatmul: the result has the product's shape and the last register's type") {
  const ops::FusedMatmul relu = fusedMatmul("add:f32 %0 %1; relu:f32 %2");
  CHECK(typeOf(relu, {f32({2, 3}), f32({3, 4}), f32({4})}) == f32({2, 4}));
  CHECK(typeOf(relu, {f32({5, 2, 3}), f32({3, 4}), f32({2, 1})}) == f32({5, 2, 4}));
  const ops::FusedMatmul larger = fusedMatmul("compare.gt:bool %0 %1", true);
  CHECK(typeOf(larger, {f32({3, 2}), f32({3, 4}), f32({})}) == TensorType{ElementType::Bool, {2, 4}});
  CHECK(typeOf(fusedMatmul("tanh:f64 %0"), {f64({2, 3}), f64({3, 4})}) == f64({2, 4}));
}

TEST_CASE("fusedMatmul: its halves refuse what they would refuse apart") {
  const ops::FusedMatmul add = fusedMatmul("add:f32 %0 %1");
  CHECK(errorOf(add, {f32({2, 3}), f32({4, 4}), f32({4})}) ==
        "matmul of f32[2, 3] and f32[4, 4]: 3 columns meet 4 rows");
  CHECK(errorOf(add, {f32({2, 3}), f32({3, 4}), f32({3})}) ==
        "fused of f32[2, 4] and f32[3]: dimension 4 of [2, 4] meets 3 of [3]");
  CHECK(errorOf(add, {f32({2, 3}), f32({3, 4}), i32({4})}) ==
        "fused of f32[2, 4] and i32[4]: instruction 0 of the body: add of f32[] and i32[]: f32 meets i32");
  CHECK(errorOf(fusedMatmul(""), {f32({2, 3}), f32({3, 4})}) == "fused of f32[2, 4]: the body is empty");
  CHECK(
      errorOf(add, {f32({2, 3}), f32({3, 4}), f32({5, 2, 4})}) ==
      "fusedMatmul of f32[2, 3], f32[3, 4] and f32[5, 2, 4]: the product has shape [2, 4], but its epilogue "
      "gives [5, 2, 4]");
}

TEST_CASE("fusedMatmul: costs its product and its body, and the product's bytes never travel") {
  const Types operands = {f32({2, 3}), f32({3, 4}), f32({4})};
  const OpCost cost =
      costOf(fusedMatmul("add:f32 %0 %1; div:f32 %2 %0"), operands, llvm::ArrayRef<TensorType>(f32({2, 4})));
  CHECK(cost.flops == 2 * 3 * 8 + (1 + 4) * 8); // a product and a sum each of 3; an addition and a division
  CHECK(cost.bytes == (6 + 12 + 4 + 8) * 4);
  CHECK(cost.product.inner == 3);
}

TEST_CASE("fusedMatmul: may overwrite an operand of its epilogue, never a factor") {
  Builder g("places");
  const Tensor a = g.input("a", f32({4, 4})), b = g.input("b", f32({4, 4})), x = g.input("x", f32({4, 4}));
  const Tensor row = g.input("row", f32({4}));
  const Tensor y =
      g.op(fusedMatmul("add:f32 %0 %1; sub:f32 %2 %3"), {a, b, row, x}, std::source_location::current());
  g.fetch("y", y);
  const Graph graph = *std::move(g).finish();
  const OpId op = graph[y.value()].producer;
  CHECK_FALSE(mayRunInPlace(graph, op, 0));
  CHECK_FALSE(mayRunInPlace(graph, op, 1));
  CHECK_FALSE(mayRunInPlace(graph, op, 2));
  CHECK(mayRunInPlace(graph, op, 3));
}
