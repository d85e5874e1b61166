// Steps of a session beside the reference evaluator's, each from the state that the one before left.
#pragma once

#include "ir/graph/graph.h"
#include "runtime/session.h"

#include <functional>
#include <string>

namespace dfc::test {

/// Compares a fetch, or a parameter behind a step, with the evaluator's of that name.
using CompareValues =
    std::function<void(const std::string& name, const Literal& expected, const Literal& actual)>;

struct StepComparison {
  uint64_t steps = 3;
  CompareValues fetch, parameter;
  /// Whether each step begins with the evaluator's parameters, so that differences do not add up.
  bool setsState = false;
};

/// The same bits.
void sameBits(const std::string& name, const Literal& expected, const Literal& actual);
/// Runs the session's plan of `graph` from the state that it has, on random feeds, and compares all fetches
/// and parameters of each step.
void compareSteps(Session& session, const Graph& graph, const StepComparison& comparison);
/// The same to the bit, from random parameters, which all copies of a parameter are to take.
void requireBitsOfSteps(Session& session, const Graph& graph, uint64_t steps);

} // namespace dfc::test
