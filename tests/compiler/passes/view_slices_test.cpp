// Subviews in plans: places within their operand, held by the verifier; and graphs in which an author wrote
// one.
#include "compiler/compile.h"
#include "ir/plan/executable.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/tiny_plan.h"

namespace dfc::test {
namespace {

Executable planned(const char* text) {
  auto plan = compile(parsed(text), smallMachine(1), RooflineCostModel());
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

Diagnostics memoryErrors(const Executable& plan, const MemoryPlan& memory) {
  return verifyMemoryPlan(memory, plan.schedule(), plan.placed(), plan.machine());
}

constexpr auto halves = R"(graph halves {
  input x : f32[4, 64]
  sum = x + x
  low = slice(sum, starts=[0, 0], ends=[2, 64])
  high = slice(sum, starts=[2, 0], ends=[4, 64])
  fetch a = tanh(low) * high
})";

} // namespace

TEST_CASE("subviews: lie in their operand, take no time, and are held to that") {
  const Executable plan = planned(halves);
  const Graph& graph = plan.graph();
  REQUIRE(graph.opsOf(OpKind::Subview).size() == 2);
  for (const OpId op : graph.opsOf(OpKind::Subview)) {
    const Slot& part = plan.memory().slots[graph[op].firstResult];
    const Slot& whole = plan.memory().slots[graph[op].operands[0]];
    CHECK(part.offset == whole.offset + viewOffset(graph, graph[op]));
    CHECK(part.bytes == 512);
    CHECK(plan.schedule().steps[plan.schedule().stepOf[op]].alone() == 0);
  }
  MemoryPlan moved = plan.memory();
  const OpId high = graph.opsOf(OpKind::Subview)[1];
  moved.slots[graph[high].firstResult].offset -= 256;
  CHECK_THAT(render(memoryErrors(plan, moved)), containing("it is the same storage as"));
}

TEST_CASE("subviews: what reads a part does not overwrite it, and what reads the whole may") {
  CompileOptions options;
  options.skipPasses = {"fuse_elementwise", "fuse_matmul"};
  const auto plan = compile(parsed(R"(graph reuse {
  input x : f32[4, 64]
  sum = x + x
  low = slice(sum, starts=[0, 0], ends=[2, 64])
  high = slice(sum, starts=[2, 0], ends=[4, 64])
  other = tanh(low)
  scale = reduceMean(other * high)
  next = sum * scale
  fetch p = matmul(next, next, transposeA=true)
})"),
                            smallMachine(0), RooflineCostModel(), options);
  REQUIRE(plan.ok());
  const Graph& graph = plan->graph();
  const auto offsetOf = [&](const char* name) { return plan->memory().slots[graph.findValue(name)].offset; };
  CHECK(graph.opsOf(OpKind::Subview).size() == 2);
  CHECK(memoryErrors(*plan, plan->memory()).empty());
  CHECK(offsetOf("next") == offsetOf("sum"));
  CHECK(offsetOf("other") != offsetOf("low"));
}

TEST_CASE("subviews: a graph in which an author wrote one is refused") {
  const auto plan =
      compile(parsed("graph g {\n  input x : f32[4, 64]\n  y = subview(x, start=64, shape=[64])\n"
                     "  fetch y\n}"),
              smallMachine(1), RooflineCostModel());
  REQUIRE(!plan.ok());
  CHECK_THAT(render(plan.errors()), containing("op 'y' is a subview, which only dfc makes"));
}

} // namespace dfc::test
