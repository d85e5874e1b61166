// geluSlopeOf: the gradient rule's own form behind a product, and nothing that differs from it.
#include "ir/author/gelu_slope.h"

#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/in_place.h"
#include "tests/support/catch.h"
#include "tests/support/gelu_slope_body.h"
#include "tests/support/typed_body.h"

using namespace dfc;

namespace {

const std::string slopeBody(test::geluSlopeBody);

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

/// A product of 16 by 24 with `body` over it, h and the constants.
struct Product {
  Graph graph;
  OpId op;

  Product(const std::string& body, ElementType element, const Shape& shape = {16, 24}, double bound = 12)
      : graph(written(body, element, shape, bound)), op(graph[graph.fetches()[0].value].producer) {}

  static Graph written(std::string body, ElementType element, const Shape& shape, double bound) {
    Builder g("product");
    std::vector<Tensor> operands = {g.input("a", {element, {16, 8}}), g.input("b", {element, {8, 24}}),
                                    g.input("h", {element, shape})};
    for (const double value : test::geluSlopeScalars) {
      operands.push_back(g.scalar(element, value == 12 ? bound : value));
    }
    ops::FusedMatmul op;
    REQUIRE(op.body.decode(test::withType(std::move(body), element)));
    g.fetch("y", g.op(op, operands, std::source_location::current()));
    return *std::move(g).finish();
  }
  std::optional<size_t> slope() const { return geluSlopeOf(graph, op); }
};

} // namespace

TEST_CASE("gelu's slope behind a product is recognised in every float type") {
  for (const ElementType element :
       {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64}) {
    INFO(name(element));
    CHECK(Product(slopeBody, element).slope() == std::optional<size_t>(2));
  }
  const std::string otherWay = replaced(slopeBody, "mul:T %0 %26", "mul:T %26 %0");
  CHECK_FALSE(Product(otherWay, ElementType::F32).slope()); // the rule does not write it so
}

TEST_CASE("gelu's slope: what differs anywhere is not recognised") {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"clip:T %1 %2 %3", "clip:T %1 %3 %3"},
      {"clip:T %1 %2 %3", "clip:T %0 %2 %3"}, // bounds; of the product
      {"mul:T %4 %11", "mul:T %6 %11"},
      {"tanh:T %14", "tanh:T %13"},
      {"sub:T %7 %19", "add:T %7 %19"},
      {"add:T %25 %23", "add:T %25 %22"},
      {"mul:T %0 %26", "mul:T %1 %26"},
      {"mul:T %0 %26", "mul:T %0 %26; relu:T %27"},
      {"tanh:T %14", "sigmoid:T %14"},
  };
  for (const auto& [what, with] : changes) {
    INFO(with);
    CHECK_FALSE(Product(replaced(slopeBody, what, with), ElementType::F32).slope());
  }
  CHECK_FALSE(Product(slopeBody, ElementType::F32, {16, 24}, 11).slope()); // other constants
  CHECK_FALSE(Product(slopeBody, ElementType::F32, {24}).slope());         // stretched
  CHECK_FALSE(Product("tanh:T %0", ElementType::F32).slope());
}

TEST_CASE("what gelu's slope is taken of may not be overwritten by the product that it multiplies") {
  const Product slope(slopeBody, ElementType::F16), other(slopeBody + "; neg:T %27", ElementType::F16);
  CHECK_FALSE(mayRunInPlace(slope.graph, slope.op, 2));
  CHECK(mayRunInPlace(other.graph, other.op, 2));
}
