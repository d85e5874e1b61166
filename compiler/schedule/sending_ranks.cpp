// Sending ranks: justified ranks, but the short tasks that lead to copies go before all others of their
// group. Behind a product, a copy starts later by the product's duration, and its link idles; a product
// behind a short task starts hardly later.
#include "compiler/schedule/priorities.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <numeric>

namespace dfc {
namespace {

/// The part of a group's work that its short tasks take together.
constexpr double partOfShort = 0.1;

/// By group: the longest duration of a short task.
std::vector<double> longestShort(const ListProblem& problem) {
  std::vector<std::vector<double>> seconds(problem.groupQueues.size());
  for (const ListTask& task : problem.tasks) {
    seconds[task.group].push_back(task.seconds);
  }
  std::vector<double> longest(seconds.size(), 0);
  for (size_t group = 0; group < seconds.size(); ++group) {
    std::vector<double>& row = seconds[group];
    std::sort(row.begin(), row.end());
    double left = partOfShort * std::accumulate(row.begin(), row.end(), 0.0);
    for (size_t i = 0; i < row.size() && row[i] <= left; ++i) {
      left -= row[i];
      longest[group] = row[i];
    }
  }
  return longest;
}

} // namespace

std::vector<double> sendingRanks(const ListProblem& problem) {
  const auto isCopy = [](const ListTask& task) { return !task.links.empty(); };
  if (llvm::none_of(problem.tasks, isCopy)) {
    return {};
  }
  const std::vector<double> longest = longestShort(problem);
  std::vector<double> ranks = justifiedRanks(problem);
  const double above = *std::max_element(ranks.begin(), ranks.end());
  std::vector<bool> sends(problem.tasks.size(), false);
  for (size_t i = problem.tasks.size(); i-- > 0;) {
    const ListTask& task = problem.tasks[i];
    const bool isShort = task.seconds <= longest[task.group];
    if (isShort && sends[i]) {
      ranks[i] += above;
    }
    for (const uint32_t before : task.before) {
      sends[before] = sends[before] || isCopy(task) || (isShort && sends[i]);
    }
  }
  return ranks;
}

} // namespace dfc
