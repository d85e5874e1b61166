// criticalPath: the chain of spans that determines the makespan of one execution, from its last end back to
// its begin.
#pragma once

#include "ir/plan/trace_step.h"

namespace dfc {

struct PathSpan {
  /// Why it did not begin sooner: nothing came before it; the step before it in its queue; a wait for another
  /// queue.
  enum class After : uint8_t { Nothing, Queue, Wait };
  StepId step;
  After after = After::Nothing;
  /// Seconds from the end of the span before it on the path (of the first: from the start of the step) to its
  /// begin. Less than 0 where clocks of two devices disagree.
  double gap = 0;
};

/// From the span that ends last back through the latest-ending of its predecessors (the step before it in its
/// queue, the steps that it waits for), given in the order of time. On a tie the queue's predecessor, then
/// the first wait. Durations and gaps add up to the makespan. Empty for a plan without steps.
std::vector<PathSpan> criticalPath(const TraceStep& step, const Schedule& schedule);

} // namespace dfc
