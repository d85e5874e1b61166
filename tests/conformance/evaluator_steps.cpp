#include "tests/conformance/evaluator_steps.h"

#include "compiler/interpreter/evaluate.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

namespace dfc::test {

void sameBits(const std::string& name, const Literal& expected, const Literal& actual) {
  INFO(name);
  CHECK(bitDifference(expected, actual) == "");
}

void compareSteps(Session& session, const Graph& graph, const StepComparison& comparison) {
  NamedLiterals state = session.state();
  for (uint64_t step = 0; step < comparison.steps; ++step) {
    INFO("step " << step);
    const NamedLiterals feeds = randomFeeds(graph, step);
    const auto expected = evaluate(graph, feeds, state);
    const auto actual = session.run(feeds);
    REQUIRE(expected.ok());
    REQUIRE(actual.ok());
    for (const auto& [name, value] : expected->fetches) {
      comparison.fetch(name, value, actual->at(name));
    }
    state = expected->parameters;
    const NamedLiterals now = session.state();
    REQUIRE(now.size() == state.size());
    for (const auto& [name, value] : state) {
      comparison.parameter(name, value, now.at(name));
    }
    if (comparison.setsState) {
      REQUIRE(session.setState(state).ok());
    }
  }
}

void requireBitsOfSteps(Session& session, const Graph& graph, uint64_t steps) {
  REQUIRE(session.setState(randomParameters(graph, 1)).ok());
  compareSteps(session, graph, {.steps = steps, .fetch = sameBits, .parameter = sameBits});
}

} // namespace dfc::test
