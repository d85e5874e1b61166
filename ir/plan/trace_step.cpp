#include "ir/plan/trace_step.h"
#include "ir/plan/executable_parts.h"

#include <algorithm>
#include <limits>
#include <map>

namespace dfc {

std::vector<uint32_t> completeSteps(const Trace& trace, const Executable& plan) {
  std::map<uint32_t, size_t> counts;
  for (const Span& span : trace.spans) {
    ++counts[span.stepNumber];
  }
  std::vector<uint32_t> whole;
  for (const auto& [number, count] : counts) {
    if (count == plan.schedule().steps.size()) {
      whole.push_back(number);
    }
  }
  return whole;
}

TraceStep traceStep(const Trace& trace, const Executable& plan, uint32_t stepNumber) {
  TraceStep step;
  step.stepNumber = stepNumber;
  step.at.resize(plan.schedule().steps.size());
  double first = std::numeric_limits<double>::infinity();
  size_t count = 0;
  for (const Span& span : trace.spans) {
    if (span.stepNumber == stepNumber) {
      step.at[span.step] = {span.begin, span.end};
      first = std::min(first, span.begin);
      ++count;
    }
  }
  DFC_ASSERT(count == step.at.size(), "every step of the plan has one span in a complete step");
  for (const StepId id : step.at.ids()) {
    step.at[id].begin -= first;
    step.at[id].end -= first;
    step.makespan = std::max(step.makespan, step.at[id].end);
  }
  return step;
}

uint32_t medianStep(const Trace& trace, const Executable& plan, llvm::ArrayRef<uint32_t> steps) {
  DFC_ASSERT(!steps.empty(), "a median is one of something");
  std::vector<std::pair<double, uint32_t>> byMakespan;
  for (const uint32_t stepNumber : steps) {
    byMakespan.emplace_back(traceStep(trace, plan, stepNumber).makespan, stepNumber);
  }
  std::sort(byMakespan.begin(), byMakespan.end());
  return byMakespan[(byMakespan.size() - 1) / 2].second;
}

} // namespace dfc
