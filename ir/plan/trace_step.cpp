#include "ir/plan/trace_step.h"
#include "ir/plan/executable_parts.h"

#include <algorithm>
#include <limits>
#include <map>

namespace dfc {

std::vector<uint32_t> wholeRounds(const Trace& trace, const Executable& plan) {
  std::map<uint32_t, size_t> counts;
  for (const Span& span : trace.spans) {
    ++counts[span.round];
  }
  std::vector<uint32_t> whole;
  for (const auto& [round, count] : counts) {
    if (count == plan.schedule().steps.size()) {
      whole.push_back(round);
    }
  }
  return whole;
}

TraceStep traceStep(const Trace& trace, const Executable& plan, uint32_t round) {
  TraceStep step;
  step.round = round;
  step.at.resize(plan.schedule().steps.size());
  double first = std::numeric_limits<double>::infinity();
  size_t count = 0;
  for (const Span& span : trace.spans) {
    if (span.round == round) {
      step.at[span.step] = {span.begin, span.end};
      first = std::min(first, span.begin);
      ++count;
    }
  }
  DFC_ASSERT(count == step.at.size(), "every step of the plan has one span in a whole round");
  for (const StepId id : step.at.ids()) {
    step.at[id].begin -= first;
    step.at[id].end -= first;
    step.makespan = std::max(step.makespan, step.at[id].end);
  }
  return step;
}

uint32_t medianRound(const Trace& trace, const Executable& plan, llvm::ArrayRef<uint32_t> rounds) {
  DFC_ASSERT(!rounds.empty(), "a median is one of something");
  std::vector<std::pair<double, uint32_t>> byMakespan;
  for (const uint32_t round : rounds) {
    byMakespan.emplace_back(traceStep(trace, plan, round).makespan, round);
  }
  std::sort(byMakespan.begin(), byMakespan.end());
  return byMakespan[(byMakespan.size() - 1) / 2].second;
}

} // namespace dfc
