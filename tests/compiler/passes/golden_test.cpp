// Every tests/golden/<pass>/<case>.dfg goes through its pass (and the sweep behind it), and the printed graph
// is compared with <case>.out.dfg. The same cases run on random values before and after, so that a golden
// file that was blessed in haste cannot hide a wrong rewrite.
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view outcome = ".out.dfg";

std::vector<fs::path> casesOf(std::string_view pass) {
  const fs::path folder = shippedFile("tests/golden/" + std::string(pass));
  std::vector<fs::path> cases;
  for (const fs::path& file : test::filesIn(folder, ".dfg")) {
    if (!file.string().ends_with(outcome)) {
      cases.push_back(file);
    }
  }
  return cases;
}

fs::path outcomeOf(fs::path file) { return file.replace_extension().string() + std::string(outcome); }

Graph graphIn(const fs::path& file) {
  Result<Graph> graph = parseGraph(test::readText(file), file.filename().string());
  INFO((graph ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

bool hasRequests(const Graph& graph) {
  for (const OpId op : graph.ops()) {
    if (classOf(graph[op].kind()) == OpClass::Request) {
      return true;
    }
  }
  return false;
}

void checkSameBits(const Graph& before, const Graph& after, uint64_t seed, test::Mood mood) {
  const NamedLiterals feeds = test::randomFeeds(before, seed, mood);
  const NamedLiterals parameters = test::randomParameters(before, seed, mood);
  const Result<Evaluation> expected = evaluate(before, feeds, parameters);
  const Result<Evaluation> actual = evaluate(after, feeds, parameters);
  REQUIRE(expected.ok());
  REQUIRE(actual.ok());
  for (const auto& [name, value] : expected->fetches) {
    INFO("fetch " << name << ", seed " << seed);
    CHECK(test::bitDifference(value, actual->fetches.at(name)) == "");
  }
}

// For values that a pass lets round in another way: in steps of the type's precision, from 1 upwards.
void checkNear(const Graph& before, const Graph& after, uint64_t seed) {
  const NamedLiterals feeds = test::randomFeeds(before, seed),
                      parameters = test::randomParameters(before, seed);
  const Result<Evaluation> expected = evaluate(before, feeds, parameters);
  const Result<Evaluation> actual = evaluate(after, feeds, parameters);
  REQUIRE(expected.ok());
  REQUIRE(actual.ok());
  for (const auto& [name, value] : expected->fetches) {
    INFO("fetch " << name << ", seed " << seed);
    const double step = value.type().element == ElementType::BF16 ? 0x1p-8 : 0x1p-23;
    const Literal& other = actual->fetches.at(name);
    double furthest = 0;
    for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
      const double at = value.at(i),
                   distance = std::abs(at - other.at(i)) / (step * std::max(1.0, std::abs(at)));
      // A query without keys: NaN in the ops, zeros in `attention`.
      const bool bothEmpty = std::isnan(at) && (other.at(i) == 0 || std::isnan(other.at(i)));
      furthest = bothEmpty ? furthest : std::isnan(distance) ? 1e9 : std::max(furthest, distance);
    }
    CHECK(furthest < 16);
  }
}

void checkCase(const PassRow& pass, const fs::path& file) {
  INFO(file.string());
  const Graph before = graphIn(file);
  const Result<Graph> passed = pass.run(before, {});
  REQUIRE(passed.ok());
  const Result<Graph> after = dropDeadOps(*passed);
  REQUIRE(after.ok());
  test::checkAgainstFile(outcomeOf(file), printGraph(*after));
  for (uint64_t seed = 0; seed < 8 && !hasRequests(before); ++seed) {
    if (pass.name == "recognise_attention") {
      checkNear(before, *after, seed);
      continue;
    }
    checkSameBits(before, *after, seed, seed % 2 == 0 ? test::Mood::Tame : test::Mood::Wild);
  }
}

} // namespace

TEST_CASE("passes: every golden case gives its printed graph and keeps its values") {
  for (const PassRow& pass : allPasses()) {
    INFO("pass " << pass.name);
    const std::vector<fs::path> cases = casesOf(pass.name);
    CHECK_FALSE(cases.empty());
    for (const fs::path& file : cases) {
      checkCase(pass, file);
    }
  }
}

} // namespace dfc
