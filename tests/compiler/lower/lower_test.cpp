// lower: errors of ops without a kernel for the machine's GPU, and plans without GPUs.
#include "compiler/compile.h"
#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"

using namespace dfc;

namespace {

constexpr const char* attentionOnGpu = R"(graph net {
  parameter q : f16[1, 2, 8, 16] = zeros()
  on gpu0 {
    y, sums = attention(q, q, q)
  }
  fetch y
}
)";

Result<Executable> compiledFor(const std::string& architecture) {
  Machine machine = test::smallMachine(1);
  machine.devices[machine.findDevice("gpu0")].architecture = architecture;
  return compile(*parseGraph(attentionOnGpu, "net.dfg"), machine, RooflineCostModel());
}

} // namespace

TEST_CASE("lower: attention on a GPU without its kernels is an error at the op") {
  const auto old = compiledFor("sm_75");
  REQUIRE(old.errors().size() == 1);
  CHECK(old.errors()[0].message == "'y' needs a GPU of compute capability 8.0 or newer, and gpu0 is sm_75");
  CHECK(old.errors()[0].where.line == 4);
  CHECK(compiledFor("sm_80").ok());
  CHECK(compiledFor("").ok()); // not stated
}

TEST_CASE("lower: a plan without GPUs has no launches") {
  const auto graph = parseGraph("graph a {\n  input x : f32[4]\n  y = exp(x)\n  fetch y\n}\n", "a.dfg");
  const auto plan = compile(*graph, test::smallMachine(0), RooflineCostModel());
  REQUIRE(plan.ok());
  CHECK(plan->launches().empty());
}
