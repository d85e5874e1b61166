// lower: errors of ops without a kernel for the machine's GPU, plans without GPUs, and ops whose kernels are
// merged around those of another op.
#include "compiler/compile.h"
#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"

#include <llvm/ADT/STLExtras.h>

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

// 'sum' has two kernels: its product, into the workspace, and the addition. 'scaled' comes before the second
// and needs no more of the first than its own elements: one launch, in which it runs between the two.
TEST_CASE("lower: a kernel may run between two kernels of another op in their launch") {
  const auto graph = parseGraph(R"(graph net {
  parameter row : f64[1, 2] = zeros()
  parameter square : f64[2, 2] = zeros()
  parameter one : f64[1, 1] = zeros()
  on gpu0 {
    scaled = matmul(one, row)
    product = matmul(row, square, transposeB=true)
    sum = add(scaled, product)
  }
  fetch sum
}
)",
                                "net.dfg");
  REQUIRE(graph.ok());
  const Machine machine = test::smallMachine(1);
  const auto plan = compile(*graph, machine, RooflineCostModel());
  REQUIRE(plan.ok());
  REQUIRE(plan->launches().launches.size() == 1);
  LaunchPlan launches = plan->launches();
  LaunchRow& row = launches.launches[0];
  REQUIRE(row.ops.size() == 2);
  REQUIRE(row.writes.size() == 3);
  CHECK(row.writes[0].begin.inWorkspace());
  CHECK(row.writes[0].op == row.writes[2].op);
  CHECK(row.writes[1].op != row.writes[2].op);
  const auto verdict = [&] {
    return verifyLaunchPlan(launches, plan->placed(), plan->schedule(), plan->memory(), machine);
  };
  CHECK(render(verdict()) == "");
  std::swap(row.writes[1].kernel, row.writes[2].kernel); // 'scaled' after it is read
  const Diagnostics refused = verdict();
  REQUIRE(refused.size() == 1);
  CHECK(llvm::StringRef(refused[0].message).startswith("runs in the wrong order with"));
}
