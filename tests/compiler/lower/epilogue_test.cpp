// Which fused bodies are epilogues of a product of cuBLASLt, and which stay kernels after it.
#include "compiler/lower/epilogue.h"
#include "compiler/lower/plan_launches.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
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

struct Planned {
  Places at;
  QueueLaunches plan;
};

Planned planned(const Product& product) {
  Planned made;
  int64_t offset = 0;
  for (size_t i = 0; i < product.graph[product.op].operands.size(); ++i) {
    made.at.operands.push_back({DeviceId(0), offset += 1 << 20});
  }
  made.at.results.push_back({DeviceId(0), offset += 1 << 20});
  made.plan = planLaunches(product.graph, {{product.op, made.at, "a choice", {}, 0}}, true);
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

TEST_CASE("epilogues: gelu is in the product's launch, which has a spare for other algorithms") {
  const Product layer("add:T %0 %1; gelu.tanh:T %2", {{24}});
  const Planned forward = planned(layer);
  REQUIRE(forward.plan.launches.size() == 1);
  const PlannedLaunch& launch = forward.plan.launches[0];
  REQUIRE(launch.row.product);
  CHECK(launch.row.product->activation == Activation::Gelu);
  CHECK(launch.row.product->choice == "a choice");
  CHECK(launch.row.product->bias);
  REQUIRE(launch.row.pointers.size() == 4); // result, factors, bias
  CHECK(launch.row.pointers[0] == forward.at.results[0]);
  CHECK(launch.row.pointers[3] == forward.at.operands[2]);
  REQUIRE(launch.spare.size() == 2);
  REQUIRE(launch.spare[0].row.product);
  CHECK(launch.spare[0].row.product->activation == Activation::None);
  CHECK(launch.spare[0].row.product->choice == "a choice");
  CHECK_FALSE(launch.spare[0].row.product->bias);
  CHECK(launch.spare[0].row.pointers.size() == 3);
  CHECK(launch.spare[1].row.kind == LaunchKind::Kernel);
  CHECK(!launch.spare[1].text.empty());
}

TEST_CASE("epilogues: bias and relu are those of every algorithm, and need no spare launch") {
  const QueueLaunches relu = planned(Product("add:T %0 %1; relu:T %2", {{24}})).plan;
  REQUIRE(relu.launches.size() == 1);
  CHECK(relu.launches[0].spare.empty());
}

TEST_CASE("epilogues: of a square product a row is a bias, a column is none") {
  const Form square{.columns = 16};
  const auto row = Product("add:T %0 %1", {{1, 16}}, square).epilogue();
  REQUIRE(row);
  CHECK(row->bias == std::optional<size_t>(2));
  CHECK_FALSE(Product("add:T %0 %1", {{16, 1}}, square).epilogue());
}
