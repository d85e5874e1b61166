// The picture of a graph, and the parts that all pictures share. Whether it is readable was judged by eye;
// the tests keep it as it was judged and hold it to DOT's rules of quoting.
#include "ir/text/dot.h"
#include "ir/text/dot_parts.h"
#include "ir/text/parse.h"
#include "ir/text/units.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/random_graph.h"

#include <set>

namespace dfc {
namespace {

size_t countOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST_CASE("the picture of the example graph", "[text]") {
  const std::string text = test::readText(DFC_SOURCE_DIR "/tests/golden/text/readme_example.dfg");
  const Result<Graph> graph = parseGraph(text, "readme_example.dfg");
  REQUIRE(graph.ok());
  test::checkGolden("text/readme_example.dot", graphDot(*graph));
}

TEST_CASE("a picture has a node an op and a fetch, and an edge an operand", "[text]") {
  test::RandomGraphOptions options;
  options.scopes = {"a/b", "a", "a/b/c", "with \"quotes\" and <b>", "//"};
  options.pins = {"gpu0", "gpu*"};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = test::randomGraph(seed, options);
    const std::string dot = graphDot(graph);
    size_t edges = graph.fetches().size();
    std::set<std::string_view> pins;
    for (const OpId op : graph.ops()) {
      // An assign is read against its parameter by its name, not by an edge.
      edges += graph[op].operands.size() - (graph[op].kind() == OpKind::Assign ? 1 : 0);
      CHECK(countOf(dot, " op" + std::to_string(op.index()) + " [label=<") == 1);
      pins.insert(graph.pinOf(op));
    }
    pins.erase("");
    // The legend: its invisible chain of four shapes and the pins.
    CHECK(countOf(dot, " -> ") == edges + 3 + pins.size());
    CHECK(countOf(dot, "{\n") ==
          countOf(dot, "}\n") - 1); // the legend's chain ends with one and begins on its line
  }
}

TEST_CASE("text in DOT is quoted", "[text]") {
  CHECK(dot::quoted("a \"b\" \\ c") == R"("a \"b\" \\ c")");
  CHECK(dot::quoted("\xff\n") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(dot::html("a < b & \"c\" > d\ne") == "a &lt; b &amp; &quot;c&quot; &gt; d<br/>e");
  CHECK(dot::edgeLabel(f32({2, 3})) == R"("  f32[2, 3]\l  24 B\l")"); // 2 * 3 * 4 bytes
  CHECK(dot::edgeLabel(f32({}), "a\"b") == R"("  a\"b\l  f32[]\l  4 B\l")");
}

TEST_CASE("devices are told apart, and the host is never another's colour", "[text]") {
  std::set<std::string_view> fills;
  for (size_t device = 0; device < 8; ++device) {
    fills.insert(dot::deviceColour(device).fill);
  }
  CHECK(fills.size() == 8);
  CHECK(dot::deviceColour(8).fill == dot::deviceColour(1).fill);
  CHECK(dot::deviceColour(1000).fill != dot::deviceColour(0).fill);
}

TEST_CASE("quantities have three digits and a unit", "[text]") {
  CHECK(humanBytes(0) == "0 B");
  CHECK(humanBytes(999) == "999 B");
  CHECK(humanBytes(1000) == "1.00 KB");
  CHECK(humanBytes(9'996) == "10.0 KB");
  CHECK(humanBytes(99'960) == "100 KB");
  CHECK(humanBytes(999'600) == "1.00 MB");
  CHECK(humanBytes(141'000'000'000) == "141 GB");
  CHECK(humanBytes(INT64_MAX) == "9223 PB"); // 2^63 / 10^15
  CHECK(humanSeconds(0) == "0 s");
  CHECK(humanSeconds(3.5e-5) == "35.0 µs");
  CHECK(humanSeconds(9.999e-7) == "1.00 µs");
  CHECK(humanSeconds(1e-10) == "0.10 ns");
  CHECK(humanSeconds(90) == "90.0 s");
  CHECK(humanSeconds(12345) == "12345 s");
  CHECK(humanRate(2.5e10) == "25.0 GB/s");
  CHECK(humanFlops(12.8e6) == "12.8 MFLOP");
  CHECK(counted(1, "step") == "1 step");
  CHECK(counted(0, "fetch") == "0 fetches");
}

} // namespace
} // namespace dfc
