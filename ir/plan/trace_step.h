// One step of a trace, cut out of it: when each step of the plan ran, in seconds from the first begin. Steps
// of a run overlap (the next is under way before this one has ended), so each is looked at by itself.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/trace.h"

namespace dfc {

struct Interval {
  double begin = 0, end = 0;
  double seconds() const { return end - begin; }
};

struct TraceStep {
  uint32_t round = 0;
  SideTable<StepId, Interval> at;
  double makespan = 0; ///< from the first begin, which is 0, to the last end
};

/// The rounds in which every step of the plan has a span, in ascending order. A round that failed, or that
/// the trace begins within, is not among them.
std::vector<uint32_t> wholeRounds(const Trace& trace, const Executable& plan);

/// Asserts that `round` is one of `wholeRounds`.
TraceStep traceStep(const Trace& trace, const Executable& plan, uint32_t round);

/// The round whose makespan is the median of those of `rounds` (the lower of the two in the middle; the
/// earliest among equals), which are whole and at least one.
uint32_t medianRound(const Trace& trace, const Executable& plan, llvm::ArrayRef<uint32_t> rounds);

} // namespace dfc
