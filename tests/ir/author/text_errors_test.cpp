// Broken graph files: the message a person would want, to the letter; and no bytes at all that break the
// parser.
#include "ir/author/text/foreign_words.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/same_graph.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/random_graph.h"
#include "tests/support/temporary_folder.h"

#include <filesystem>
#include <fstream>
#include <map>

namespace dfc {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> brokenFiles() { return test::filesIn(shippedFile("tests/invalid/graphs"), ".dfg"); }

std::string messageOf(const Result<Graph>& graph) {
  REQUIRE_FALSE(graph.ok());
  return render(graph.errors());
}

TEST_CASE("every broken graph file gives its message to the letter", "[text]") {
  const std::vector<fs::path> files = brokenFiles();
  CHECK(files.size() >= 20);
  for (const fs::path& file : files) {
    const Result<Graph> graph = parseGraph(test::readText(file), file.filename().string());
    INFO(file.string());
    test::checkAgainstFile(fs::path(file).replace_extension(".expected"), messageOf(graph));
  }
}

TEST_CASE("every word of other frameworks leads to an op of the table", "[text]") {
  for (const std::string_view op : text::opsOfForeignWords()) {
    INFO(op);
    CHECK(opKindNamed(op).has_value());
  }
}

TEST_CASE("files that cannot be read say why", "[text]") {
  const std::string missing = messageOf(readGraph("/nowhere/model.dfg"));
  CHECK(missing.find("/nowhere/model.dfg") != std::string::npos);
  CHECK(missing.find("No such file") != std::string::npos);
  CHECK(messageOf(readGraph(shippedFile("tests").string())).find("is a folder") != std::string::npos);
  const test::TemporaryFolder folder;
  const std::string file = folder.file("g.dfg");
  std::ofstream(file) << "graph g {}";
  CHECK(readGraph(file).ok());
  fs::resize_file(file, largestGraphFile + 1); // a hole: takes no room on the disk
  CHECK(messageOf(readGraph(file)).find("is larger than") != std::string::npos);
}

TEST_CASE("a thousand errors are enough", "[text]") {
  std::string text = "graph g {\n";
  for (int i = 0; i < 3000; ++i) {
    text += "  y" + std::to_string(i) + " = relu(z" + std::to_string(i) + ")\n";
  }
  const Result<Graph> graph = parseGraph(text + "}\n", "many.dfg");
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.errors().size() == 1001);
  CHECK(graph.errors().front().where.line == 2);
  CHECK(graph.errors().back().message == "stopped after 1000 errors; there may be more");
}

// Each of these takes the parser far down one path; any of them in quadratic time or deep recursion would be
// felt.
TEST_CASE("long and strange files are read in one pass", "[text]") {
  constexpr int many = 100'000;
  std::map<std::string, std::string> bodies;
  std::string& sum = bodies["a sum of many terms"] = "input x : f32[]\ny = x";
  std::string& wide = bodies["a call with many inner calls on one line"] =
      "input x : f32[1]\ny = concat(neg(x)";
  std::string& fetches = bodies["many fetches"] = "input x : f32[]\n";
  std::string& undefined = bodies["many uses of unknown names on one line"] = "input x : f32[]\ny = concat(x";
  std::string& blocks = bodies["many blocks"] = "input x : f32[]\n";
  std::string& made = bodies["names that made-up names took"] = "input x : f32[]\n";
  for (int i = 0; i < many; ++i) {
    const std::string number = std::to_string(i);
    sum += " + x";
    wide += ", neg(x)";
    fetches += "fetch f" + number + " = x\n";
    undefined += ", u" + number;
    blocks += "scope s" + number + " on d" + number + " { y" + number + " = neg(x) }\n";
    made += i % 2 == 0 ? "a" + number + " = neg(neg(x))\n" : "neg." + number + " = relu(x)\n";
  }
  wide += ")\n";
  undefined += ")\n";
  for (const auto& [what, body] : bodies) {
    const Result<Graph> graph = parseGraph("graph g {\n" + body + "\n}\n", "long.dfg");
    INFO(what << (graph ? "" : render(graph.errors().front())));
    CHECK(graph.ok() == (&body != &undefined));
  }
  for (const std::string piece :
       {"(", "[", "{", "-", "a=", "\"", "neg(", "scope a {", "x,", "fill(", "#", "}", "\n\"a"}) {
    std::string text = "graph g {\ninput x : f32[]\ny = ";
    for (int i = 0; i < many; ++i) {
      text += piece;
    }
    CHECK_FALSE(parseGraph(text, "deep.dfg").ok());
  }
}

// A mistake anywhere gives a graph or located errors, never anything else.
void checkHarmless(const std::string& text) {
  const Result<Graph> graph = parseGraph(text, "mutant.dfg");
  if (graph) {
    const Result<Graph> again = parseGraph(printGraph(*graph), "printed.dfg");
    REQUIRE(again.ok());
    CHECK(sameGraph(*graph, *again));
    return;
  }
  const auto lines = static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n') + 1);
  for (const Diagnostic& error : graph.errors()) {
    INFO(render(error));
    CHECK((error.where.line >= 1 && error.where.line <= lines));
    CHECK((error.where.column >= 1 && error.lineStart <= error.where.column));
    CHECK(!error.message.empty());
  }
}

TEST_CASE("mutated files do no harm", "[text]") {
  std::vector<std::string> corpus = {test::readText(shippedFile("ir/author/text/README.md"))};
  for (const fs::path& file : brokenFiles()) {
    corpus.push_back(test::readText(file));
  }
  test::RandomGraphOptions options;
  options.scopes = {"a b", "c"};
  options.pins = {"gpu0", "cpu 0"};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    corpus.push_back(printGraph(test::randomGraph(seed, options)));
  }
  test::Dice dice(42);
  const std::string letters = "(){}[],=:\"\\#\n \t+-*/.0x9naif_\xc3\xff";
  for (int round = 0; round < 4000; ++round) {
    std::string text = dice.oneOf(corpus);
    if (text.size() > 5000) {
      continue;
    }
    for (int64_t edits = 1 + dice.below(4); edits > 0; --edits) {
      const auto at = static_cast<size_t>(dice.below(static_cast<int64_t>(text.size()) + 1));
      const std::string& other = dice.oneOf(corpus);
      switch (dice.below(4)) {
      case 0:
        text.insert(at, 1, letters[static_cast<size_t>(dice.below(static_cast<int64_t>(letters.size())))]);
        break;
      case 1: text.erase(at, static_cast<size_t>(dice.below(10))); break;
      case 2: text.resize(at); break;
      case 3: text.insert(at, other, 0, static_cast<size_t>(dice.below(60))); break;
      }
    }
    INFO(text);
    checkHarmless(text);
  }
}

TEST_CASE("the example of the description is a graph file", "[text]") {
  const std::string readme = test::readText(shippedFile("ir/author/text/README.md"));
  const size_t begin = readme.find("```\n") + 4;
  const Result<Graph> graph =
      parseGraph(readme.substr(begin, readme.find("```", begin) - begin), "README.md");
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  test::checkGolden("text/readme_example.dfg", printGraph(*graph));
}

} // namespace
} // namespace dfc
