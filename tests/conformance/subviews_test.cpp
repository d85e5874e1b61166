// Slices that are parts of their operand's bytes: of sums, of state and of what is assigned, beside ops that
// overwrite what they read, wherever each of them lives.
#include "tests/conformance/contenders.h"
#include "tests/conformance/evaluator_steps.h"
#include "tests/conformance/require_plan.h"

#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::test;

namespace {

Tensor rows(const Tensor& a, int64_t begin, int64_t end) {
  return slice(a, {begin, 0}, {end, a.type().shape[1]});
}

/// Parts of a sum, of a parameter before its assign, and of what another parameter takes.
Graph parts(const std::string& ofState, const std::string& ofSum, const std::string& ofParts) {
  Builder g("parts");
  const Tensor x = g.input("x", f32({4, 64}));
  const Tensor p = g.parameter("p", f32({4, 64}), constantInit(1)).on(ofState);
  const Tensor q = g.parameter("q", f32({4, 64}), constantInit(2)).on(ofSum);
  const Tensor kept = g.parameter("kept", f32({2, 64}), constantInit(3)).on(ofParts);
  const Tensor sum = (x + p * 2).on(ofSum);
  const Tensor low = rows(sum, 0, 2).on(ofSum), high = rows(sum, 2, 4).on(ofSum);
  const Tensor row = rows(reshape(p, {2, 128}), 1, 2).on(ofState); // of the old value
  const Tensor taken = rows(g.assign(p, q), 1, 3).on(ofState);
  g.fetch("row", (row * 2).on(ofParts));
  g.fetch("taken", (taken + 1).on(ofParts));
  g.fetch("low", (low * 0.5).on(ofParts)); // could overwrite its operand, if that were not a part
  g.fetch("whole", (sum * 4).on(ofSum));
  g.fetch("part", rows(sum, 1, 4).on(ofSum));
  g.assign(q, (rows(concat({sum, sum}, 0), 2, 6) * 0.25).on(ofSum));
  g.assign(kept, (high - kept).on(ofParts));
  return requireGraph(std::move(g));
}

void checkSteps(const Contender& contender, const Graph& graph) {
  const auto plan = requirePlan(graph, contender.machine());
  CHECK(plan->graph().opsOf(OpKind::Subview).size() >= 4);
  auto session = Session::open(plan, contender.options());
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  requireBitsOfSteps(**session, graph, 3);
}

} // namespace

TEST_CASE("subviews: parts of sums and of state have the bits of slices, wherever they live") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    std::vector<std::string> places = contender.devices();
    places.insert(places.begin(), "cpu0");
    for (const std::string& ofState : places) {
      for (const std::string& ofSum : places) {
        for (const std::string& ofParts : places) {
          INFO(contender.name << ": state on " << ofState << ", sum on " << ofSum << ", parts on "
                              << ofParts);
          checkSteps(contender, parts(ofState, ofSum, ofParts));
        }
      }
    }
  }
}
