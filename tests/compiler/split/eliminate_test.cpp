// minimise: on small problems the cost of the best of all choices, exactly; and where tables may have few
// entries, a choice that costs what the result says. Costs are whole numbers, so that sums are exact.
#include "compiler/split/choice/eliminate.h"
#include "compiler/split/choice/minimise.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>

namespace dfc::test {
namespace {

double costOf(const ChoiceProblem& problem, const std::vector<uint32_t>& option) {
  double sum = 0;
  for (const ChoiceTable& table : problem.tables) {
    size_t at = 0;
    for (const uint32_t v : table.variables) {
      at = at * problem.options[v] + option[v];
    }
    sum += table.costs[at];
  }
  return sum;
}

/// The next choice in the order of an odometer; whether there is one.
bool advance(const ChoiceProblem& problem, std::vector<uint32_t>& option) {
  for (size_t v = option.size(); v-- > 0;) {
    if (++option[v] < problem.options[v]) {
      return true;
    }
    option[v] = 0;
  }
  return false;
}

double leastOfAll(const ChoiceProblem& problem) {
  std::vector<uint32_t> option(problem.options.size(), 0);
  double least = HUGE_VAL;
  do {
    least = std::min(least, costOf(problem, option));
  } while (advance(problem, option));
  return least;
}

ChoiceTable randomTable(const ChoiceProblem& problem, std::initializer_list<uint32_t> variables, Dice& dice) {
  ChoiceTable table{variables, {}};
  size_t entries = 1;
  for (const uint32_t v : variables) {
    entries *= problem.options[v];
  }
  for (size_t i = 0; i < entries; ++i) {
    table.costs.push_back(dice.chance(8) ? HUGE_VAL : static_cast<double>(dice.below(20)));
  }
  return table;
}

/// Up to seven variables of up to four options, in sparse and dense graphs, some without a neighbour; two
/// tables of the same variables, and variables in either order.
ChoiceProblem randomProblem(Dice& dice) {
  ChoiceProblem problem;
  const int64_t variables = 1 + dice.below(7), density = 10 + dice.below(90);
  for (int64_t v = 0; v < variables; ++v) {
    problem.addVariable(static_cast<size_t>(1 + dice.below(4)));
  }
  for (uint32_t a = 0; a < variables; ++a) {
    if (dice.chance(60)) {
      problem.tables.push_back(randomTable(problem, {a}, dice));
    }
    for (uint32_t b = 0; b < variables; ++b) {
      if (a != b && dice.chance(density / 2)) {
        problem.tables.push_back(randomTable(problem, {a, b}, dice));
      }
    }
  }
  return problem;
}

void requireAllowed(const ChoiceProblem& problem, const ChoiceResult& result) {
  REQUIRE(result.option.size() == problem.options.size());
  for (size_t v = 0; v < problem.options.size(); ++v) {
    REQUIRE(result.option[v] < problem.options[v]);
  }
}

} // namespace

TEST_CASE("choice by elimination: the least cost of all choices, and a choice that has it") {
  size_t impossible = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const ChoiceProblem problem = randomProblem(dice);
    const ChoiceResult result = minimise(problem);
    requireAllowed(problem, result);
    CHECK(result.exact);
    CHECK(result.cost == leastOfAll(problem));
    CHECK(costOf(problem, result.option) == result.cost);
    impossible += std::isinf(result.cost) ? 1 : 0;
  }
  CHECK(impossible > 20);
  CHECK(impossible < 1000);
}

TEST_CASE(
    "choice by elimination: with small tables the cost is that of the choice, and no less than the least") {
  size_t settled = 0, best = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const ChoiceProblem problem = randomProblem(dice);
    const double least = leastOfAll(problem);
    std::vector<std::vector<uint32_t>> starts; // of every second problem, one other choice
    if (seed % 2 == 0) {
      starts.push_back(chooseInOrder(problem, {}, std::vector<uint32_t>(problem.options.size(), undecided)));
    }
    for (const size_t mostEntries : {1, 4, 16}) {
      INFO("tables of " << mostEntries);
      const ChoiceResult result = minimise(problem, starts, mostEntries);
      requireAllowed(problem, result);
      CHECK(result.cost == costOf(problem, result.option));
      CHECK(result.cost >= least);
      CHECK((!result.exact || result.cost == least));
      settled += result.exact ? 0 : 1;
      best += !result.exact && result.cost == least ? 1 : 0;
    }
  }
  CHECK(settled > 1000);
  CHECK(best > settled / 2); // settling is a heuristic, but no bad one
}

TEST_CASE(
    "mini-buckets: never above the least cost of all choices, and equal to it where tables stay small") {
  size_t inexact = 0, equal = 0, finite = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const ChoiceProblem problem = randomProblem(dice);
    const double least = leastOfAll(problem);
    CHECK(leastBound(problem, size_t{1} << 14) == least); // 4^7 entries at most
    for (const size_t mostEntries : {1, 4, 16}) {
      INFO("tables of " << mostEntries);
      const double bound = leastBound(problem, mostEntries);
      CHECK(bound <= least);
      const bool exact = eliminate(problem, mostEntries).exact;
      CHECK((!exact || bound == least));
      if (!exact && std::isfinite(least)) {
        ++inexact;
        equal += bound == least ? 1 : 0;
        finite += bound >= 0.5 * least ? 1 : 0;
      }
    }
  }
  CHECK(inexact > 500);
  CHECK(equal > inexact / 4);
  CHECK(finite > inexact / 2);
}

TEST_CASE("mini-buckets: a variable whose tables are minimised apart takes an option in each") {
  // Three variables that each differ from the others at no cost, of two options: one pair is alike, at a cost
  // of 1. Divided, each of the tables is met by itself.
  ChoiceProblem problem;
  for (uint32_t v = 0; v < 3; ++v) {
    problem.addVariable(2);
  }
  for (uint32_t v = 0; v < 3; ++v) {
    problem.tables.push_back({{v, (v + 1) % 3}, {1, 0, 0, 1}});
  }
  CHECK(leastBound(problem, 8) == 1);
  CHECK(leastBound(problem, 4) == 0);
}

TEST_CASE("choice by elimination: a long chain is exact in small tables") {
  // Two options each; a change of option between neighbours costs 3, an option other than the wanted one 1:
  // of a wish that changes every second variable, 50 of 100 are not followed.
  ChoiceProblem problem;
  for (uint32_t v = 0; v < 100; ++v) {
    problem.addVariable(2);
    problem.tables.push_back({{v}, {static_cast<double>(v % 2), static_cast<double>(1 - v % 2)}});
    if (v > 0) {
      problem.tables.push_back({{v - 1, v}, {0, 3, 3, 0}});
    }
  }
  const ChoiceResult result = minimise(problem, {}, 4);
  CHECK(result.exact);
  CHECK(result.cost == 50);
}

} // namespace dfc::test
