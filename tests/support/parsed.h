// The graph of a text that has to parse.
#pragma once

#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <string>

namespace dfc::test {

/// Fails the test, with the errors, where the text does not parse.
inline Graph parsed(const std::string& text) {
  Result<Graph> graph = parseGraph(text, "test.dfg");
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

} // namespace dfc::test
