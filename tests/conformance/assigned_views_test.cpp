// Views of what an assign gives, where that is another parameter's old value: every stage accepts the graph,
// and the view shows the old value although the step overwrites its bytes.
#include "tests/conformance/contenders.h"
#include "tests/conformance/evaluator_steps.h"
#include "tests/conformance/require_plan.h"

#include "tests/support/catch.h"
#include "tests/support/random_values.h"

using namespace dfc;
using namespace dfc::test;

namespace {

/// p takes q, q moves on; a view of what p took is fetched, read and kept. Each on the device given.
Graph handedOn(const std::string& ofP, const std::string& ofQ, const std::string& ofView) {
  Builder g("handed on");
  const Tensor x = g.input("x", f32({8}));
  const Tensor p = g.parameter("p", f32({8}), constantInit(1)).on(ofP);
  const Tensor q = g.parameter("q", f32({8}), constantInit(2)).on(ofQ);
  const Tensor kept = g.parameter("kept", f32({2, 4}), constantInit(3)).on(ofView);
  const Tensor view = reshape(g.assign(p, q), {2, 4}).on(ofView);
  g.assign(q, (q * 0.5 + x).on(ofQ));
  g.assign(kept, view);
  g.fetch("view", view);
  g.fetch("read", exp(view).on(ofView));
  g.fetch("view of the view", reshape(view, {4, 2}));
  return requireGraph(std::move(g));
}

void checkSteps(const Contender& contender, const Graph& graph) {
  auto session = Session::open(requirePlan(graph, contender.machine()), contender.options());
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  REQUIRE((*session)->setState(randomParameters(graph, 1)).ok()); // all copies of a parameter are to take it
  const auto fetch = [](const std::string& name, const Literal& expected, const Literal& actual) {
    if (name == "read") { // an exponential, rounded as the device does
      CHECK(actual.at(0) == Approx(expected.at(0)));
    } else {
      sameBits(name, expected, actual);
    }
  };
  compareSteps(**session, graph, {.steps = 4, .fetch = fetch, .parameter = sameBits});
}

} // namespace

TEST_CASE("state: a view of what an assign gives, another parameter's old value, wherever they live") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    std::vector<std::string> places = contender.devices();
    places.insert(places.begin(), "cpu0");
    for (const std::string& ofP : places) {
      for (const std::string& ofQ : places) {
        for (const std::string& ofView : places) {
          INFO(contender.name << ": p on " << ofP << ", q on " << ofQ << ", the view on " << ofView);
          checkSteps(contender, handedOn(ofP, ofQ, ofView));
        }
      }
    }
  }
}
