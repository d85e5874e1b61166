#include "compiler/split/choice/minimise.h"

#include "compiler/split/choice/eliminate.h"

#include <llvm/ADT/STLExtras.h>

#include <limits>

namespace dfc {
namespace {

/// The tables of each variable.
std::vector<std::vector<size_t>> tablesByVariable(const ChoiceProblem& problem) {
  std::vector<std::vector<size_t>> tables(problem.options.size());
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    for (const uint32_t v : problem.tables[t].variables) {
      tables[v].push_back(t);
    }
  }
  return tables;
}

/// Iterated conditional modes: gives each variable its best option among those of the others, until none
/// changes.
class Improvement {
 public:
  Improvement(const ChoiceProblem& problem, ChoiceResult& result)
      : problem_(problem), result_(result), tablesOf_(tablesByVariable(problem)) {}

  void run() {
    constexpr int mostRounds = 8;
    bool changed = true;
    for (int round = 0; changed && round < mostRounds; ++round) {
      changed = false;
      for (uint32_t v = 0; v < problem_.options.size(); ++v) {
        changed = improve(v) || changed;
      }
    }
    result_.cost = 0;
    for (const ChoiceTable& table : problem_.tables) {
      result_.cost += costOf(table);
    }
  }

 private:
  double costOf(const ChoiceTable& table) const {
    size_t at = 0;
    for (const uint32_t v : table.variables) {
      at = at * problem_.options[v] + result_.option[v];
    }
    return table.costs[at];
  }

  double costAround(uint32_t v) const {
    double sum = 0;
    for (const size_t t : tablesOf_[v]) {
      sum += costOf(problem_.tables[t]);
    }
    return sum;
  }

  bool improve(uint32_t v) {
    const uint32_t before = result_.option[v];
    uint32_t best = before;
    double least = costAround(v);
    for (uint32_t option = 0; option < problem_.options[v]; ++option) {
      result_.option[v] = option;
      if (const double cost = costAround(v); cost < least) {
        least = cost;
        best = option;
      }
    }
    result_.option[v] = best;
    return best != before;
  }

  const ChoiceProblem& problem_;
  ChoiceResult& result_;
  std::vector<std::vector<size_t>> tablesOf_;
};

/// The choice between two answers, variable by variable: a problem of at most two options each.
ChoiceResult joined(const ChoiceProblem& problem, const std::vector<uint32_t>& a,
                    const std::vector<uint32_t>& b) {
  ChoiceProblem between;
  for (uint32_t v = 0; v < problem.options.size(); ++v) {
    between.options.push_back(a[v] == b[v] ? 1 : 2);
  }
  const auto optionOf = [&](uint32_t v, uint32_t side) { return side == 0 ? a[v] : b[v]; };
  for (const ChoiceTable& table : problem.tables) {
    ChoiceTable narrow{table.variables, {}};
    const uint32_t first = table.variables[0];
    const uint32_t second = table.variables.back();
    const bool pair = table.variables.size() == 2;
    for (uint32_t i = 0; i < between.options[first]; ++i) {
      for (uint32_t j = 0; j < (pair ? between.options[second] : 1); ++j) {
        const size_t at = pair ? size_t{optionOf(first, i)} * problem.options[second] + optionOf(second, j)
                               : optionOf(first, i);
        narrow.costs.push_back(table.costs[at]);
      }
    }
    between.tables.push_back(std::move(narrow));
  }
  constexpr size_t mostEntries = size_t{1} << 18;
  const ChoiceResult sides = eliminate(between, mostEntries);
  ChoiceResult result{a, sides.cost, false};
  for (uint32_t v = 0; v < problem.options.size(); ++v) {
    result.option[v] = optionOf(v, sides.option[v]);
  }
  return result;
}

} // namespace

ChoiceResult minimise(const ChoiceProblem& problem, llvm::ArrayRef<std::vector<uint32_t>> starts,
                      size_t mostEntries) {
  ChoiceResult best = eliminate(problem, mostEntries);
  if (best.exact) {
    return best;
  }
  Improvement(problem, best).run();
  for (const std::vector<uint32_t>& start : starts) {
    ChoiceResult other{start, 0, false};
    Improvement(problem, other).run();
    ChoiceResult both = joined(problem, best.option, other.option);
    Improvement(problem, both).run();
    for (ChoiceResult* one : {&other, &both}) {
      if (one->cost < best.cost) {
        best = std::move(*one);
      }
    }
  }
  return best;
}

std::vector<uint32_t> chooseInOrder(const ChoiceProblem& problem, llvm::ArrayRef<uint32_t> order,
                                    std::vector<uint32_t> fixed) {
  const auto tables = tablesByVariable(problem);
  std::vector<uint32_t> option = std::move(fixed);
  // The cost of the tables whose other variables are decided.
  const auto costOf = [&](uint32_t v) {
    double sum = 0;
    for (const size_t t : tables[v]) {
      const ChoiceTable& table = problem.tables[t];
      size_t at = 0;
      bool known = true;
      for (const uint32_t other : table.variables) {
        known = known && option[other] != undecided;
        at = at * problem.options[other] + (option[other] == undecided ? 0 : option[other]);
      }
      sum += known ? table.costs[at] : 0;
    }
    return sum;
  };
  const auto decide = [&](uint32_t v) {
    if (option[v] != undecided) {
      return;
    }
    double least = std::numeric_limits<double>::infinity();
    uint32_t best = 0;
    for (uint32_t i = 0; i < problem.options[v]; ++i) {
      option[v] = i;
      if (const double cost = costOf(v); cost < least) {
        least = cost;
        best = i;
      }
    }
    option[v] = best;
  };
  llvm::for_each(order, decide);
  for (uint32_t v = 0; v < problem.options.size(); ++v) {
    decide(v);
  }
  return option;
}

} // namespace dfc
