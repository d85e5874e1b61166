// Part ranks: the highest upward rank among the tasks of the same part of the batch, and lower from part to
// part. By upward ranks alone an op of every part comes before the next op of any, so that all parts reach
// the next stage of a pipeline at the end; with the earliest part first, forward and backward parts alternate
// once the pipeline is full (Narayanan et al. 2019, "PipeDream": 1F1B).
#include "compiler/schedule/priorities.h"

#include <algorithm>

namespace dfc {

std::vector<double> partRanks(const ListProblem& problem) {
  std::vector<double> ranks = upwardRanks(problem);
  std::vector<double> highest; // by part
  for (size_t task = 0; task < ranks.size(); ++task) {
    const uint32_t part = problem.tasks[task].part;
    if (part != noTask) {
      highest.resize(std::max<size_t>(highest.size(), part + 1), 0);
      highest[part] = std::max(highest[part], ranks[task]);
    }
  }
  if (highest.empty()) {
    return {};
  }
  constexpr double lower = 1 - 1e-9;
  for (size_t part = 1; part < highest.size(); ++part) {
    highest[part] = std::min(highest[part], lower * highest[part - 1]);
  }
  for (size_t task = 0; task < ranks.size(); ++task) {
    const uint32_t part = problem.tasks[task].part;
    ranks[task] = part == noTask ? ranks[task] : highest[part];
  }
  return ranks;
}

} // namespace dfc
