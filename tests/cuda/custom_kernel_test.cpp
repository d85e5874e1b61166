// Kernels of custom ops: they compile with no GPU, a text that does not compile is an error at the op with
// the compiler's log, and on a GPU they give their results.
#include "ir/author/text/parse.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/library/custom_kernel.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <array>
#include <fmt/format.h>

using namespace dfc;

namespace {

Graph withSource(const std::string& source, const std::string& entry = "saxpy") {
  const std::string text = fmt::format(
      "graph g {{\n  input x : f32[6]\n  y = custom(x, function=\"f\", types=\"f32[6]\", gpuSeconds=1e-6,\n"
      "    source=\"{}\", entry=\"{}\", grid=[1, 2], block=[3], sharedBytes=12)\n  fetch y\n}}\n",
      source, entry);
  auto graph = parseGraph(text, "kernels.dfg");
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

const std::string doubling = "extern \\\"C\\\" __global__ void saxpy(const float* x, float* y) {\\n"
                             "  extern __shared__ float own[];\\n"
                             "  const int i = blockIdx.y * blockDim.x + threadIdx.x;\\n"
                             "  own[threadIdx.x] = x[i];\\n"
                             "  y[i] = 2 * own[threadIdx.x];\\n}";

Diagnostic errorOf(const Graph& graph) {
  try {
    (void)cuda::compileCustom(graph, graph.opsOf(OpKind::Custom)[0], "sm_90");
  } catch (const Error& error) {
    REQUIRE(error.diagnostics().size() == 1);
    return error.diagnostics()[0];
  }
  return {};
}

} // namespace

TEST_CASE("custom kernels: NVRTC compiles the author's source as it stands") {
  const Graph graph = withSource(doubling);
  const std::string binary = cuda::compileCustom(graph, graph.opsOf(OpKind::Custom)[0], "sm_90");
  CHECK(binary.find("saxpy") != std::string::npos); // by its own name
}

TEST_CASE("custom kernels: a mistake in the source is located at the op, with the compiler's log") {
  const Diagnostic error =
      errorOf(withSource("extern \\\"C\\\" __global__ void saxpy(float* y) {\\n  y[0] = z;\\n}"));
  CHECK(error.where.file == "kernels.dfg");
  CHECK(error.where.line == 3);
  CHECK_THAT(error.message, test::containing("custom op 'y': its kernel 'saxpy' does not compile:\n"));
  CHECK_THAT(error.message, test::containing("saxpy.cu(2): error: identifier \"z\" is undefined"));
}

TEST_CASE("custom kernels: on a GPU they compute, and a kernel that is not there is an error at the op") {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    DFC_SKIP("there is no GPU");
  }
  const std::string architecture = cuda::architectureOf(0);
  cuda::KernelLibrary library{std::filesystem::path()};
  const std::array<float, 6> x = {1, 2, 3, 4, 5, 6};
  std::array<float, 6> y{};
  std::byte* memory = nullptr;
  REQUIRE(cudaMalloc(reinterpret_cast<void**>(&memory), 512) == cudaSuccess);
  REQUIRE(cudaMemcpy(memory, x.data(), sizeof(x), cudaMemcpyHostToDevice) == cudaSuccess);
  const Graph graph = withSource(doubling);
  const auto launch = cuda::customLaunch(graph, graph.opsOf(OpKind::Custom)[0], {memory, memory + 256},
                                         library, architecture, 0);
  launch->enqueue(nullptr);
  REQUIRE(cudaMemcpy(y.data(), memory + 256, sizeof(y), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(y == std::array<float, 6>{2, 4, 6, 8, 10, 12});
  const Graph other = withSource(doubling + " // not a kernel: absent", "absent");
  CHECK_THROWS_WITH(cuda::customLaunch(other, other.opsOf(OpKind::Custom)[0], {memory, memory + 256}, library,
                                       architecture, 0),
                    test::containing("custom op 'y': its kernel 'absent' cannot be loaded"));
  REQUIRE(cudaFree(memory) == cudaSuccess);
}
