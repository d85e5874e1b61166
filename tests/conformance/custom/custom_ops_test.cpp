// Custom ops on every backend that computes: the host's devices call the function, real GPUs launch the op's
// kernel between generated ones, and both give the interpreter's bits in every step.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/custom.h"
#include "ir/author/dsl.h"
#include "runtime/session.h"
#include "tests/conformance/contenders.h"
#include "tests/conformance/require_plan.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/random_values.h"

#include <fmt/format.h>

#include <optional>

using namespace dfc;
using namespace dfc::test;

namespace {

constexpr int64_t length = 100'003; // no multiple of a block

const std::string sumAndDifference = fmt::format(R"(
extern "C" __global__ void sumAndDifference(const float* a, const float* b, float* sum, float* difference) {{
  extern __shared__ float own[];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int threads = blockDim.x * blockDim.y;
  for (int i = (blockIdx.y * gridDim.x + blockIdx.x) * threads + thread; i < {}; i += threads * gridDim.x * gridDim.y) {{
    own[thread] = a[i];
    sum[i] = own[thread] + b[i];
    difference[i] = own[thread] - b[i];
  }}
}}
)",
                                                 length);

CustomTask task() {
  CustomTask made;
  made.function = "sum and difference";
  made.results = {f32({length}), f32({length})};
  made.cpuSeconds = made.gpuSeconds = 1e-5;
  made.kernel = {.source = sumAndDifference,
                 .entry = "sumAndDifference",
                 .grid = {16, 2},
                 .block = {32, 4},
                 .sharedBytes = 512};
  return made;
}

const CustomFunctions functions = {{"sum and difference", [](const CustomCall& call) {
                                      const auto a = call.operand<float>(0), b = call.operand<float>(1);
                                      for (size_t i = 0; i < a.size(); ++i) {
                                        call.result<float>(0)[i] = a[i] + b[i];
                                        call.result<float>(1)[i] = a[i] - b[i];
                                      }
                                    }}};

/// Generated kernels, the custom op, generated kernels and another custom op, all on one device.
Graph chain(const std::string& device, const CustomTask& wanted) {
  Builder g("chain");
  const Tensor x = g.input("x", f32({length}));
  const auto guard = g.on(device);
  const auto first = custom({x * 2, x}, wanted);
  first[0].named("first");
  const Tensor product = first[0] * first[1] + 1;
  const auto second = custom({product, first[0]}, wanted);
  g.fetch("sum", second[0]);
  g.fetch("least", min(second[1], first[1]));
  return requireGraph(std::move(g));
}

std::shared_ptr<const Executable> planFor(const Contender& contender, const CustomTask& wanted) {
  return requirePlan(chain(contender.devices()[0], wanted), contender.machine());
}

std::optional<Contender> realGpu() {
  for (const Contender& contender : contenders(Aspect::Values)) {
    if (contender.name == "cuda as gpu") {
      return contender;
    }
  }
  return std::nullopt;
}

} // namespace

TEST_CASE("custom ops: every backend gives the interpreter's bits") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    INFO(contender.name);
    SessionOptions options = contender.options();
    options.customFunctions = functions;
    const auto session = Session::open(planFor(contender, task()), options).orThrow();
    const Graph graph = chain("cpu0", task());
    for (uint64_t step = 0; step < 4; ++step) {
      const NamedLiterals feeds = randomFeeds(graph, step);
      const auto expected = evaluate(graph, feeds, {}, functions);
      REQUIRE(expected.ok());
      const auto actual = session->run(feeds);
      REQUIRE(actual.ok());
      CHECK(*actual == expected->fetches);
    }
  }
}

TEST_CASE("custom ops: a real GPU refuses an op without a kernel, and one whose kernel does not compile, at "
          "the op") {
  const auto gpu = realGpu();
  if (!gpu) {
    DFC_SKIP("there is no GPU");
  }
  CustomTask without = task(), wrong = task();
  without.kernel = {};
  wrong.kernel.source += "nonsense;\n";
  const auto refused = Session::open(planFor(*gpu, without), gpu->options());
  REQUIRE_FALSE(refused.errors().empty());
  CHECK(refused.errors()[0].where.file == __FILE__);
  CHECK_THAT(refused.errors()[0].message, containing("has no kernel for custom 'first'"));
  CHECK_THAT(refused.errors()[0].hint, containing("--backend gpu=emulated"));
  const auto broken = Session::open(planFor(*gpu, wrong), gpu->options());
  REQUIRE_FALSE(broken.errors().empty());
  CHECK(broken.errors()[0].where.file == __FILE__);
  CHECK_THAT(broken.errors()[0].message, containing("its kernel 'sumAndDifference' does not compile"));
  CHECK_THAT(broken.errors()[0].message, containing("nonsense"));
}
