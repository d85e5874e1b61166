// The text of products by generated kernels, tiles and few rows: the same every time, with launches that a
// device takes, compiled for an H100/H200 without a warning; and which products they compute. Their values
// are tested in tests/conformance.
#include "compiler/lower/kernel_selection.h"
#include "compiler/lower/kernels/kernel_text.h"
#include "compiler/lower/kernels/products/row_product.h"
#include "compiler/lower/kernels/products/tile_product.h"
#include "compiler/lower/tile_matmul.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/runtime/cuda/nvrtc_compile.h"
#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::cuda;
using namespace dfc::test;

namespace {

GeneratedLaunch launchOf(bool transposedA, bool transposedB) {
  ops::Fused after;
  REQUIRE(after.body.decode("add:f32 %0 %1; relu:f32 %2"));
  const TensorType operands[] = {f32({64, 2048}), f32({2048})};
  GeneratedKernels work = tileProductKernel({64, 2048, 512, transposedA, transposedB},
                                            elementwiseChain(after, operands, ElementType::F32));
  REQUIRE(work.launches.size() == 1);
  CHECK(work.workspaceBytes == 0);
  return std::move(work.launches[0]);
}

} // namespace

TEST_CASE("a tile product is one launch of static shared memory, the same text every time") {
  for (const bool transposedA : {false, true}) {
    for (const bool transposedB : {false, true}) {
      const GeneratedLaunch launch = launchOf(transposedA, transposedB);
      CHECK(launch.code == launchOf(transposedA, transposedB).code);
      CHECK(launch.blocks() == 128);
      CHECK(launch.threads == 128);
      CHECK(launch.barriers);
      CHECK(launch.sharedBytes > 0);
      CHECK(launch.sharedBytes <= 48 * 1024);
      CHECK(launch.arguments.size() == 4); // factors, bias, result
    }
  }
}

TEST_CASE("NVRTC compiles tile products without a warning, and they multiply on tensor cores") {
  if (!compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  for (const bool transposedA : {false, true}) {
    for (const bool transposedB : {false, true}) {
      const std::string source = std::string(prelude()) + kernelText(launchOf(transposedA, transposedB));
      CHECK(compileLog(source) == "");
      const std::string text = compiledText(source);
      CHECK(text.find("mma.sync.aligned.m16n8k8") != std::string::npos);
      CHECK(text.find("cp.async.cg.shared.global") != std::string::npos);
    }
  }
}

TEST_CASE("tiles run on GPUs whose tensor cores have tf32") {
  for (const char* architecture : {"sm_80", "sm_90", "sm_90a", "sm_100"}) {
    CHECK(runsTiles(architecture));
  }
  for (const char* architecture : {"sm_75", "sm_", "", "compute_90"}) {
    CHECK_FALSE(runsTiles(architecture));
  }
}

namespace {

/// A product of 64 rows in tf32.
struct Product {
  Graph graph;
  OpId op;

  Product(int64_t inner, int64_t columns)
      : graph(written(inner, columns)), op(graph[graph.fetches()[0].value].producer) {}

  static Graph written(int64_t inner, int64_t columns) {
    Builder g("product");
    ops::Matmul matmul;
    matmul.precision = ops::Precision::Tf32;
    g.fetch("c", g.op(matmul, {g.input("a", f32({64, inner})), g.input("b", f32({inner, columns}))},
                      std::source_location::current()));
    return *std::move(g).finish();
  }

  bool byTiles(std::string choice, bool tiles = true) const {
    Computation computation;
    computation.op = op;
    computation.choice = std::move(choice);
    computation.at.operands = {{DeviceId(0), 0}, {DeviceId(0), 4096}};
    computation.at.results = {{DeviceId(0), 8192}};
    const KernelSelection selection = selectKernels(graph, computation, {tiles, GpuShape::assumed()});
    CHECK(selection.library.has_value() != selection.kernels.has_value());
    return selection.kernels.has_value();
  }
};

} // namespace

TEST_CASE("tiles compute a product where they are chosen, or nothing is and it is small") {
  const Product small(512, 2048), large(2048, 512);
  CHECK(small.byTiles(""));
  CHECK_FALSE(large.byTiles(""));
  for (const Product* product : {&small, &large}) {
    CHECK(product->byTiles(std::string(tileChoice)));
    CHECK_FALSE(product->byTiles("cublasLt 130000 00"));
    CHECK_FALSE(product->byTiles("", false)); // a GPU without them
  }
}

TEST_CASE("a row times a matrix is the vector kernel's, with or without a choice of tiles") {
  Builder g("row");
  ops::Matmul matmul;
  matmul.precision = ops::Precision::Tf32;
  const Tensor row = g.op(matmul, {g.input("a", f32({1, 64})), g.input("b", f32({64, 128}))},
                          std::source_location::current());
  g.fetch("c", row);
  const Graph graph = *std::move(g).finish();
  const OpId op = graph[graph.fetches()[0].value].producer;
  CHECK_FALSE(isLibraryProduct(graph, op));
  CHECK_FALSE(mayTile(graph[op], graph.operandTypesOf(op)));
}

TEST_CASE("NVRTC compiles products of few rows without a warning or a spilled register") {
  if (!compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  for (const ElementType element : {ElementType::F32, ElementType::BF16}) {
    for (const bool transposed : {false, true}) {
      for (const RowProduct& product :
           {RowProduct{1, 768, 3072, transposed, element}, RowProduct{8, 2304, 768, transposed, element},
            RowProduct{1, 50257, 768, transposed, element}}) {
        CAPTURE(product.rows, product.columns, transposed);
        const GeneratedKernels work = rowProductKernel(
            product, identityChain({element, {product.rows, product.columns}}), {132, 2048, 227 * 1024});
        const CompiledKernel kernel =
            compiledKernel(std::string(prelude()) + kernelText(work.launches[0]), "sm_90");
        CHECK(kernel.warnings == "");
        CHECK(kernel.spilledBytes == 0);
      }
    }
  }
}
