#include "tests/property/choice_by_cbc.h"

#include "tests/support/temporary_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

namespace dfc::test {
namespace {

constexpr double scale = 1e6; // costs are seconds, and cbc's tolerances are absolute

std::string nameOf(uint32_t variable, uint32_t option) { return fmt::format("x{}_{}", variable, option); }

/// One binary variable an option, of which each of a problem's variables has one; one an allowed entry of a
/// table of two, whose sums by row and by column are those of the options.
class LinearProgram {
 public:
  explicit LinearProgram(const ChoiceProblem& problem) : problem_(problem) {
    for (uint32_t v = 0; v < problem.options.size(); ++v) {
      std::string sum;
      for (uint32_t i = 0; i < problem.options[v]; ++i) {
        sum += fmt::format(" + {}", nameOf(v, i));
        binaries_ += fmt::format(" {}\n", nameOf(v, i));
      }
      rows_ += fmt::format("{} = 1\n", sum);
    }
    for (size_t t = 0; t < problem.tables.size(); ++t) {
      problem.tables[t].variables.size() == 1 ? addUnary(problem.tables[t]) : addPair(problem.tables[t], t);
    }
  }

  std::string text() const {
    std::string objective;
    for (const auto& [name, cost] : costs_) { // one a line: lines of the format are short
      objective += fmt::format("\n + {:.17g} {}", scale * cost, name);
    }
    return fmt::format("Minimize\n obj:{}\nSubject To\n{}Binary\n{}End\n", objective, rows_, binaries_);
  }

 private:
  void addUnary(const ChoiceTable& table) {
    for (uint32_t i = 0; i < table.costs.size(); ++i) {
      addCost(nameOf(table.variables[0], i), table.costs[i]);
    }
  }

  void addPair(const ChoiceTable& table, size_t t) {
    const uint32_t a = table.variables[0], b = table.variables[1];
    const uint32_t columns = problem_.options[b];
    std::vector<std::string> byRow(problem_.options[a]), byColumn(columns);
    for (uint32_t i = 0; i < table.costs.size(); ++i) {
      const std::string entry = fmt::format("y{}_{}", t, i);
      if (std::isfinite(table.costs[i])) {
        addCost(entry, table.costs[i]);
        byRow[i / columns] += " + " + entry;
        byColumn[i % columns] += " + " + entry;
      }
    }
    for (uint32_t i = 0; i < byRow.size(); ++i) {
      rows_ += fmt::format("{} - {} = 0\n", byRow[i], nameOf(a, i));
    }
    for (uint32_t i = 0; i < columns; ++i) {
      rows_ += fmt::format("{} - {} = 0\n", byColumn[i], nameOf(b, i));
    }
  }

  void addCost(const std::string& name, double cost) {
    if (!std::isfinite(cost)) {
      rows_ += fmt::format(" {} = 0\n", name);
    } else if (cost != 0) {
      costs_[name] += cost;
    }
  }

  const ChoiceProblem& problem_;
  std::map<std::string, double> costs_; // by variable
  std::string rows_, binaries_;
};

} // namespace

bool hasCbc() { return std::system("command -v cbc > /dev/null 2>&1") == 0; }

std::optional<double> leastByCbc(const ChoiceProblem& problem) {
  const TemporaryFolder folder;
  const std::string program = folder.file("choice.lp"), answer = folder.file("answer.txt");
  std::ofstream(program) << LinearProgram(problem).text();
  const std::string command =
      fmt::format("cbc {} ratio 0 allow 0 solve solu {} > /dev/null 2>&1", program, answer);
  if (std::system(command.c_str()) != 0) {
    return std::nullopt;
  }
  std::ifstream lines(answer);
  std::string first;
  std::getline(lines, first);
  const std::string before = "Optimal - objective value ";
  if (first.rfind(before, 0) != 0) {
    return std::nullopt;
  }
  return std::stod(first.substr(before.size())) / scale;
}

} // namespace dfc::test
