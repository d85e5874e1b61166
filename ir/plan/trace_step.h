// TraceStep: one execution of the plan, taken from a trace: when each op ran, in seconds from the first
// begin. Consecutive executions overlap (the next begins before this one has ended), so each is looked at by
// itself.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/trace.h"

namespace dfc {

struct Interval {
  double begin = 0, end = 0;
  double seconds() const { return end - begin; }
};

struct TraceStep {
  uint32_t stepNumber = 0; ///< which execution
  SideTable<StepId, Interval> at;
  double makespan = 0; ///< from the first begin, which is 0, to the last end
};

/// The numbers of the executions in which every op of the plan has a span, in ascending order. An execution
/// that failed, or within which the trace begins, is not among them.
std::vector<uint32_t> completeSteps(const Trace& trace, const Executable& plan);

/// Asserts that `stepNumber` is one of `completeSteps`.
TraceStep traceStep(const Trace& trace, const Executable& plan, uint32_t stepNumber);

/// The execution whose makespan is the median of those of `steps` (the lower of the two in the middle; the
/// earliest among equals). `steps` is not empty, and all of them are complete.
uint32_t medianStep(const Trace& trace, const Executable& plan, llvm::ArrayRef<uint32_t> steps);

} // namespace dfc
