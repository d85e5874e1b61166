// Which fused bodies are epilogues of a product of cuBLASLt, and which stay kernels after it. A fake library
// answers the questions about GELU.
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "runtime/cuda/launches/epilogue.h"
#include "runtime/cuda/launches/launch_plan.h"
#include "tests/support/catch.h"
#include "tests/support/typed_body.h"

#include <fmt/format.h>

using namespace dfc;
using namespace dfc::cuda;

namespace {

struct Form {
  ElementType element = ElementType::BF16;
  ops::Precision precision = ops::Precision::Unstated;
  int64_t columns = 24;
};

/// A product of 16 rows with `body` over it and over `others`.
struct Product {
  Graph graph;
  OpId op;

  Product(std::string body, const std::vector<Shape>& others, Form form = {},
          llvm::ArrayRef<double> scalars = {})
      : graph(written(std::move(body), others, form, scalars)), op(graph[graph.fetches()[0].value].producer) {
  }

  static Graph written(std::string body, const std::vector<Shape>& others, Form form,
                       llvm::ArrayRef<double> scalars) {
    Builder g("product");
    std::vector<Tensor> operands = {g.input("a", {form.element, {16, 8}}),
                                    g.input("b", {form.element, {8, form.columns}})};
    for (const Shape& shape : others) {
      operands.push_back(g.input(fmt::format("x{}", operands.size()), {form.element, shape}));
    }
    for (const double scalar : scalars) {
      operands.push_back(g.scalar(form.element, scalar));
    }
    ops::FusedMatmul op;
    op.precision = form.precision;
    REQUIRE(op.body.decode(test::withType(std::move(body), form.element)));
    g.fetch("y", g.op(op, operands, std::source_location::current()));
    return *std::move(g).finish();
  }
  std::optional<Epilogue> epilogue() const { return libraryEpilogue(graph, op); }
};

constexpr Form tf32{ElementType::F32, ops::Precision::Tf32}, ieee{ElementType::F32, ops::Precision::Ieee};

/// A fake library: gives a fixed answer and records the questions.
class FakeProducts final : public ProductLibrary {
 public:
  explicit FakeProducts(bool answer) : answer_(answer) {}
  bool takes(const MatmulCall& product, Activation activation, bool bias) override {
    CHECK(product.choice == "a choice");
    CHECK(product.activation == Activation::None);
    CHECK(product.aData == nullptr);
    asked.emplace_back(activation, bias);
    return answer_;
  }
  std::vector<std::pair<Activation, bool>> asked;

 private:
  bool answer_;
};

struct Planned {
  Addresses at;
  LaunchPlan plan;
};

Planned planned(const Product& product, Libraries libraries) {
  Planned made;
  uint64_t address = uint64_t{1} << 32;
  for (size_t i = 0; i < product.graph[product.op].operands.size(); ++i) {
    made.at.operands.push_back(reinterpret_cast<std::byte*>(address += 1 << 20));
  }
  made.at.results.push_back(reinterpret_cast<std::byte*>(address += 1 << 20));
  made.plan = planLaunches(product.graph, {{product.op, made.at, "a choice", {}, 0}}, true, libraries);
  return made;
}

} // namespace

TEST_CASE("epilogues: bias, scale, addend and relu") {
  const auto layer = Product("add:T %0 %1; relu:T %2", {{24}}).epilogue();
  REQUIRE(layer);
  CHECK(layer->bias == std::optional<size_t>(2));
  CHECK(layer->activation == Activation::Relu);
  const auto update = Product("mul:T %0 %2; sub:T %1 %3", {{16, 24}}, {}, {0.125}).epilogue();
  REQUIRE(update);
  CHECK(update->alpha == -0.125);
  CHECK(update->addend == std::optional<size_t>(2));
  CHECK(update->activation == Activation::None);
  CHECK_FALSE(
      Product("add:T %0 %1; relu:T %2", {{16, 24}}).epilogue()); // cuBLASLt documents no order with an addend
  CHECK_FALSE(Product("relu:T %0; add:T %2 %1", {{24}}).epilogue());
  CHECK_FALSE(Product("max:T %0 %1", {{24}}).epilogue());
}

TEST_CASE("epilogues: gelu's tanh form is one of products that are rounded more coarsely than it") {
  for (const Form form : {Form{ElementType::F16}, Form{ElementType::BF16}, tf32}) {
    INFO(name(form.element));
    const auto bare = Product("gelu.tanh:T %0", {}, form).epilogue();
    REQUIRE(bare);
    CHECK(bare->activation == Activation::Gelu);
    CHECK_FALSE(bare->bias);
    const auto layer = Product("mul:T %0 %2; add:T %1 %3; gelu.tanh:T %4", {{24}}, form, {2}).epilogue();
    REQUIRE(layer);
    CHECK(layer->activation == Activation::Gelu);
    CHECK(layer->bias == std::optional<size_t>(2));
    CHECK(layer->alpha == 2);
  }
  for (const Form form : {ieee, Form{ElementType::F32}, Form{ElementType::F64}}) {
    CHECK_FALSE(Product("gelu.tanh:T %0", {}, form).epilogue());
  }
}

TEST_CASE("epilogues: other forms than gelu's tanh stay kernels") {
  CHECK_FALSE(Product("gelu.none:T %0", {}).epilogue()); // the erf form
  CHECK_FALSE(Product("add:T %0 %1; gelu.none:T %2", {{24}}).epilogue());
  CHECK_FALSE(Product("add:T %0 %1; gelu.tanh:T %2", {{16, 24}}).epilogue()); // with an addend
  CHECK_FALSE(Product("add:T %0 %1; gelu.tanh:T %2", {{16, 1}}).epilogue());  // a bias a row
  CHECK_FALSE(Product("gelu.tanh:T %0; add:T %2 %1", {{24}}).epilogue());
  CHECK_FALSE(Product("gelu.tanh:T %0; relu:T %1", {}).epilogue());
  CHECK_FALSE(Product("gelu.tanh:T %1", {{16, 24}}).epilogue()); // of something else
}

TEST_CASE("epilogues: the library is asked for gelu, and takes it into the product's launch") {
  FakeProducts yes(true);
  const Product layer("add:T %0 %1; gelu.tanh:T %2", {{24}});
  const Planned forward = planned(layer, {.products = &yes});
  CHECK(yes.asked == std::vector<std::pair<Activation, bool>>{{Activation::Gelu, true}});
  REQUIRE(forward.plan.launches.size() == 1);
  REQUIRE(forward.plan.launches[0].product);
  CHECK(forward.plan.launches[0].product->activation == Activation::Gelu);
  CHECK(forward.plan.launches[0].product->bias == forward.at.operands[2]);
}

TEST_CASE("epilogues: what the library refuses follows as a kernel; bias and relu are not asked for") {
  FakeProducts no(false);
  const Product layer("add:T %0 %1; gelu.tanh:T %2", {{24}});
  for (const Libraries libraries : {Libraries{.products = &no}, Libraries{}}) {
    const LaunchPlan plan = planned(layer, libraries).plan;
    REQUIRE(plan.launches.size() == 2);
    REQUIRE(plan.launches[0].product);
    CHECK(plan.launches[0].product->activation == Activation::None);
    CHECK(plan.launches[0].product->bias == nullptr);
    CHECK(!plan.launches[1].text.empty());
  }
  CHECK(no.asked.size() == 1);
  const LaunchPlan relu = planned(Product("add:T %0 %1; relu:T %2", {{24}}), {.products = &no}).plan;
  CHECK(relu.launches.size() == 1);
  CHECK(no.asked.size() == 1);
}

TEST_CASE("epilogues: of a square product a row is a bias, a column is none") {
  const Form square{.columns = 16};
  const auto row = Product("add:T %0 %1", {{1, 16}}, square).epilogue();
  REQUIRE(row);
  CHECK(row->bias == std::optional<size_t>(2));
  CHECK_FALSE(Product("add:T %0 %1", {{16, 1}}, square).epilogue());
}
