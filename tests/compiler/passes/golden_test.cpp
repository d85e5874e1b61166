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
#include "tests/support/channels_last.h"
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

// Calls check(before, after) for each fetch, of a step of both graphs with the same random feeds and
// parameters.
template <class Check>
void compareFetches(const Graph& before, const Graph& after, uint64_t seed, test::Mood mood, Check check) {
  const NamedLiterals feeds = test::randomFeeds(before, seed, mood);
  const NamedLiterals parameters = test::randomParameters(before, seed, mood);
  const Result<Evaluation> expected = evaluate(before, feeds, parameters);
  const Result<Evaluation> actual = evaluate(after, feeds, parameters);
  REQUIRE(expected.ok());
  REQUIRE(actual.ok());
  for (const auto& [name, value] : expected->fetches) {
    INFO("fetch " << name << ", seed " << seed);
    check(value, actual->fetches.at(name));
  }
}

void checkSameBits(const Literal& before, const Literal& after) {
  CHECK(test::bitDifference(before, after) == "");
}

// For passes that change rounding: within 16 ulps, of 1 for smaller numbers. A query without keys is NaN in
// the ops and 0 in `attention`.
void checkNear(const Literal& before, const Literal& after) {
  const double ulp = before.type().element == ElementType::BF16 ? 0x1p-8 : 0x1p-23;
  double furthest = 0;
  for (int64_t i = 0; i < before.type().shape.elements(); ++i) {
    const double a = before.at(i), b = after.at(i);
    if (std::isnan(a)) {
      CHECK((b == 0 || std::isnan(b)));
    } else {
      CHECK_FALSE(std::isnan(b));
      furthest = std::max(furthest, std::abs(a - b) / (ulp * std::max(1.0, std::abs(a))));
    }
  }
  CHECK(furthest < 16);
}

// scale_losses has nothing to do in a plan of another precision.
PassOptions optionsOf(const PassRow& pass) {
  PassOptions options = test::channelsLast();
  options.precision = pass.name == "scale_losses" ? Precision::F16 : Precision::Ieee;
  return options;
}

void checkCase(const PassRow& pass, const fs::path& file) {
  INFO(file.string());
  const Graph before = graphIn(file);
  const Result<Graph> passed = pass.run(before, optionsOf(pass));
  REQUIRE(passed.ok());
  const Result<Graph> after = dropDeadOps(*passed);
  REQUIRE(after.ok());
  test::checkAgainstFile(outcomeOf(file), printGraph(*after));
  for (uint64_t seed = 0; seed < 8 && !hasRequests(before); ++seed) {
    const bool rounds =
        pass.name == "recognise_attention" || pass.name == "fuse_batch_norm" || pass.name == "space_to_depth";
    const test::Mood mood = rounds || seed % 2 == 0 ? test::Mood::Tame : test::Mood::Wild;
    compareFetches(before, *after, seed, mood, rounds ? checkNear : checkSameBits);
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
