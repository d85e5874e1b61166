// The picture of a graph, and the parts that all pictures share. Whether it is readable was judged by eye;
// the tests keep it as it was judged and hold it to DOT's rules of quoting.
#include "ir/author/text/parse.h"
#include "ir/author/text/units.h"
#include "ir/draw/dot.h"
#include "ir/draw/dot_parts.h"
#include "ir/graph/graph.h"
#include "runtime/executable_folder.h"
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
  const std::string text = test::readText(shippedFile("tests/golden/text/readme_example.dfg"));
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
  CHECK(dot::title("a < b", "c\nd") == "<<font point-size=\"20\">a &lt; b</font><br/>"
                                       "<font point-size=\"12\" color=\"#57606a\">c<br/>d</font><br/>>");
}

TEST_CASE("devices are told apart, and the host is never another's colour", "[text]") {
  std::vector<std::string> names = {"cpu0"};
  for (int gpu = 0; gpu < 8; ++gpu) {
    names.push_back("gpu" + std::to_string(gpu));
  }
  const dot::DevicePalette palette(names);
  std::set<std::string_view> fills;
  for (const std::string& name : names) {
    fills.insert(palette.of(name).fill);
  }
  CHECK(fills.size() == 9);
  CHECK(palette.of("nowhere").fill == dot::noDevice.fill);
}

TEST_CASE("a device has the same colour whatever else a picture shows", "[text]") {
  const dot::DevicePalette machine({"cpu0", "gpu0", "gpu1"});
  const dot::DevicePalette pins({"anything", "gpu1"});
  CHECK(pins.of("gpu1").fill == machine.of("gpu1").fill);
  CHECK(pins.of("anything").fill != pins.of("gpu1").fill);
  CHECK(pins.of("anything").fill != machine.of("cpu0").fill);
  // Names without a colour of their own take what is left, in order, and the tenth repeats.
  std::vector<std::string> many;
  for (char letter = 'a'; letter < 'a' + 20; ++letter) {
    many.emplace_back(1, letter);
  }
  const dot::DevicePalette strangers(many);
  CHECK(strangers.of("a").fill == strangers.of("i").fill); // eight colours beside the host's
  CHECK(strangers.of("a").fill != strangers.of("b").fill);
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
  using Texts = std::pair<std::string, std::string>;
  CHECK(humanBytesApart(16'000'000'000, 15'900'000'000) == Texts{"16.0 GB", "15.9 GB"});
  CHECK(humanBytesApart(16'000'000'512, 16'000'000'000) == Texts{"16.000001 GB", "16 GB"}); // 8 digits
  CHECK(humanBytesApart(7, 7) == Texts{"7 B", "7 B"});
  CHECK(humanBytesApart((int64_t{1} << 40) + 1, int64_t{1} << 40) ==
        Texts{"1.099511627777 TB", "1.099511627776 TB"});
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
  CHECK(counted(2, "box") == "2 boxes");
}

} // namespace
} // namespace dfc
