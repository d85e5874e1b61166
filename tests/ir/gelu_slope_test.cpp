// geluSlopeOf: the gradient rule's own form behind a product, and nothing that differs from it.
#include "ir/gelu_slope.h"

#include "ir/dsl.h"
#include "ir/in_place.h"
#include "tests/support/catch.h"

using namespace dfc;

namespace {

// Registers: the product, h, then -12, 12, 0.044715, sqrt(2/pi), 3 * 0.044715, 1, 0.5; %9 is the clipped h.
const std::string slopeBody =
    "clip:T %1 %2 %3; mul:T %9 %9; mul:T %10 %9; mul:T %4 %11; add:T %9 %12; mul:T %5 %13; tanh:T %14; "
    "mul:T %6 %10; add:T %7 %16; mul:T %5 %17; mul:T %15 %15; sub:T %7 %19; mul:T %9 %20; mul:T %21 %18; "
    "mul:T %8 %22; add:T %7 %15; mul:T %8 %24; add:T %25 %23; mul:T %0 %26";

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
    for (size_t at = body.find(":T"); at != std::string::npos; at = body.find(":T", at)) {
      body.replace(at + 1, 1, name(element));
    }
    Builder g("product");
    const double cubic = 0.044715;
    std::vector<Tensor> operands = {g.input("a", {element, {16, 8}}), g.input("b", {element, {8, 24}}),
                                    g.input("h", {element, shape})};
    for (const double value : {-bound, bound, cubic, 0.7978845608028654, 3 * cubic, 1.0, 0.5}) {
      operands.push_back(g.scalar(element, value));
    }
    ops::FusedMatmul op;
    REQUIRE(op.body.decode(body));
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
