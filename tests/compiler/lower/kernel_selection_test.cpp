// Kernel selection for products: each row of the table of candidates, by element type, shape, epilogue and
// the calibration's choice.
#include "compiler/lower/kernel_selection.h"
#include "compiler/lower/tile_matmul.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::cuda;

namespace {

struct ProductForm {
  TensorType a, b;
  ops::Precision precision = ops::Precision::Unstated;
  const char* body = nullptr; ///< of a fused product; null for a plain one
};

Graph graphWith(const ProductForm& product) {
  Builder g("product");
  const std::vector<Tensor> factors = {g.input("a", product.a), g.input("b", product.b)};
  ops::Matmul plain;
  ops::FusedMatmul fused;
  plain.precision = fused.precision = product.precision;
  const auto here = std::source_location::current();
  if (product.body != nullptr) {
    REQUIRE(fused.body.decode(product.body));
    g.fetch("c", g.op(fused, factors, here));
  } else {
    g.fetch("c", g.op(plain, factors, here));
  }
  return *std::move(g).finish();
}

LaunchPointer placeOf(int64_t number) { return {DeviceId(0), number * 4096}; }

KernelSelection selectionFor(const ProductForm& product, std::string choice = "",
                             const GpuTarget& target = {}) {
  const Graph graph = graphWith(product);
  Computation computation;
  computation.op = graph[graph.fetches()[0].value].producer;
  computation.choice = std::move(choice);
  computation.at.operands = {placeOf(0), placeOf(1)};
  computation.at.results = {placeOf(2)};
  return selectKernels(graph, computation, target);
}

bool isOfLibrary(const ProductForm& product) {
  const Graph graph = graphWith(product);
  return isLibraryProduct(graph, graph[graph.fetches()[0].value].producer);
}

TensorType typed(ElementType element, const Shape& shape) { return {element, shape}; }

constexpr const char *reluBody = "relu:f32 %0", *expBody = "exp:f32 %0";

} // namespace

TEST_CASE("kernel selection: a product is computed by the first candidate that applies") {
  using Type = ElementType;
  const auto tf32 = ops::Precision::Tf32;
  const TensorType square = f32({64, 64});
  struct Case {
    ProductForm product;
    const char* candidate;
    bool wholeOp; ///< one launch for a fused product
  };
  for (const Case& one : {Case{{f32({64, 1}), f32({1, 64}), {}, expBody}, "outer product", true},
                          Case{{f32({64, 1}), f32({1, 64}), tf32}, "outer product", true},
                          Case{{square, square, tf32, expBody}, "tiles", true},
                          Case{{typed(Type::I32, {8, 4}), typed(Type::I32, {4, 8})}, "integer product", true},
                          Case{{typed(Type::I64, {8, 1}), typed(Type::I64, {1, 8})}, "integer product", true},
                          Case{{f32({1, 64}), square, tf32}, "row product", true},
                          Case{{square, f32({64, 1}), {}, expBody}, "vector product", false},
                          Case{{square, square, {}, reluBody}, "cuBLASLt with epilogue", true},
                          Case{{square, square, {}, expBody}, "cuBLASLt", false},
                          Case{{f32({64, 0}), f32({0, 64}), {}, reluBody}, "cuBLASLt", false},
                          Case{{typed(Type::F16, {1, 64}), typed(Type::F16, {64, 8})}, "row product", true},
                          Case{{f32({9, 64}), square, {}, expBody}, "cuBLASLt", false},
                          Case{{f32({2, 1, 64}), f32({2, 64, 8})}, "cuBLASLt", true}}) {
    const KernelSelection selection = selectionFor(one.product);
    INFO(toString(one.product.a) << " by " << toString(one.product.b));
    CHECK(selection.candidate == one.candidate);
    CHECK((selection.hasProduct() && selection.kernels.has_value()) == !one.wholeOp);
    CHECK(selection.library.has_value() == (selection.candidate.substr(0, 8) == "cuBLASLt"));
    const bool library = selection.library.has_value() || selection.candidate == "tiles";
    CHECK(isOfLibrary(one.product) == library); // tiles only stand in for cuBLASLt
  }
}

TEST_CASE("kernel selection: a calibration's choice decides between tiles and cuBLASLt") {
  const ProductForm small{f32({64, 64}), f32({64, 64}), ops::Precision::Tf32},
      large{f32({4096, 4096}), f32({4096, 4096}), ops::Precision::Tf32},
      exact{f32({64, 64}), f32({64, 64}), ops::Precision::Ieee};
  CHECK(selectionFor(small).candidate == "tiles");
  CHECK(selectionFor(large).candidate == "cuBLASLt");
  CHECK(selectionFor(large, std::string(tileChoice)).candidate == "tiles");
  CHECK(selectionFor(exact, std::string(tileChoice)).candidate == "cuBLASLt"); // not in tf32
  const KernelSelection chosen = selectionFor(small, "cublasLt 130000 00");
  CHECK(chosen.candidate == "cuBLASLt");
  REQUIRE(chosen.library);
  CHECK(chosen.library->choice == "cublasLt 130000 00");
  CHECK(selectionFor(small, "", {.tiles = false}).candidate == "cuBLASLt");
}

TEST_CASE("kernel selection: a product with gelu as epilogue has a spare selection without") {
  const TensorType square{ElementType::BF16, {64, 64}};
  const KernelSelection selection = selectionFor({square, square, {}, "gelu.tanh:bf16 %0"});
  CHECK(selection.candidate == "cuBLASLt with epilogue");
  REQUIRE(selection.spare != nullptr);
  CHECK(selection.spare->candidate == "cuBLASLt");
  CHECK(selection.spare->kernels.has_value());
  CHECK(selection.workspaceBytes >= selection.spare->workspaceBytes);
}

TEST_CASE("kernel selection: other ops and results without elements have no candidate") {
  const KernelSelection none = selectionFor({f32({0, 4}), f32({4, 8})});
  CHECK(none.candidate.empty());
  CHECK_FALSE((none.hasProduct() || none.kernels));
  CHECK_FALSE(isOfLibrary({f32({0, 4}), f32({4, 8})}));
}

TEST_CASE("kernel selection: a product lies in the result, unless an operand of its epilogue does") {
  Builder g("product");
  const TensorType square = f32({64, 64});
  ops::FusedMatmul fused;
  REQUIRE(fused.body.decode("exp:f32 %0; mul:f32 %2 %1"));
  const std::vector<Tensor> operands = {g.input("a", square), g.input("b", square), g.input("x", square)};
  g.fetch("c", g.op(fused, operands, std::source_location::current()));
  const Graph graph = *std::move(g).finish();
  Computation computation;
  computation.op = graph[graph.fetches()[0].value].producer;
  computation.at = {{placeOf(0), placeOf(1), placeOf(2)}, {placeOf(3)}};
  const KernelSelection apart = selectKernels(graph, computation);
  CHECK(apart.candidate == "cuBLASLt");
  CHECK_FALSE(apart.productInWorkspace);
  computation.at.results = {placeOf(2)}; // in the place of x, which the kernel behind the product reads
  const KernelSelection inPlace = selectKernels(graph, computation);
  REQUIRE(inPlace.productInWorkspace);
  CHECK(inPlace.workspaceBytes >= *inPlace.productInWorkspace + 64 * 64 * 4);
}
