// Views of what an assign gives, where that is another parameter's old value: every stage accepts the graph,
// and the view shows the old value although the step overwrites its bytes.
#include "tests/conformance/contenders.h"
#include "tests/conformance/require_plan.h"

#include "compiler/interpreter/evaluate.h"
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
  NamedLiterals state = randomParameters(graph, 1); // all copies of a parameter are to take it
  REQUIRE((*session)->setState(state).ok());
  for (uint64_t step = 0; step < 4; ++step) {
    const NamedLiterals feeds = randomFeeds(graph, step);
    const auto expected = evaluate(graph, feeds, state);
    const auto actual = (*session)->run(feeds);
    REQUIRE(expected.ok());
    REQUIRE(actual.ok());
    for (const char* name : {"view", "view of the view"}) {
      INFO("step " << step << ", " << name);
      CHECK(bitDifference(expected->fetches.at(name), actual->at(name)) == "");
    }
    CHECK(actual->at("read").at(0) == Approx(expected->fetches.at("read").at(0)));
    state = expected->parameters;
    CHECK((*session)->state() == state);
  }
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
