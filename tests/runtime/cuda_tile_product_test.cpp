// The text of tile products: the same every time, with launches that a device takes, compiled for an
// H100/H200 without a warning. What it computes is tested in tests/conformance.
#include "ir/op_rules.h"
#include "runtime/cuda/kernels/kernel_text.h"
#include "runtime/cuda/kernels/tile_product.h"
#include "tests/runtime/nvrtc_compile.h"
#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::cuda;
using namespace dfc::test;

namespace {

GeneratedLaunch launchOf(bool transposedA, bool transposedB) {
  ops::Fused after;
  REQUIRE(after.body.decode("add:f32 %0 %1; relu:f32 %2"));
  const TensorType operands[] = {f32({64, 2048}), f32({2048})};
  GeneratedWork work = tileProductKernel({64, 2048, 512, transposedA, transposedB},
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
