// Trace: which op ran on which queue from when to when; one type for predicted and measured, so that both are
// drawn in one picture. Seconds from the beginning of the first step of the trace.
#pragma once

#include "ir/base/visibility.h"
#include "ir/plan/executable.h"

namespace DFC_PUBLIC dfc {

/// One execution of one step of the schedule.
struct Span {
  StepId step;             ///< which row of the schedule
  uint32_t stepNumber = 0; ///< which execution of the plan, from 0
  double begin = 0;        ///< seconds
  double end = 0;          ///< seconds
};

/// Spans of one or more steps.
struct Trace {
  /// Where the times are from.
  enum class Origin : uint8_t { Predicted, Measured };
  Origin origin = Origin::Predicted; ///< where the times are from
  std::vector<Span> spans;           ///< by begin
  double makespan() const;           ///< from the first begin to the last end
};

/// The schedule's own predicted times as a trace.
Trace predictedTrace(const Executable& executable);

/// Seconds in which at least one transfer and one computation were both under way.
double overlapSeconds(const Trace& trace, const Executable& executable);

/// Chrome trace-event JSON (opens in Perfetto and chrome://tracing): a process per trace, a thread per queue.
std::string chromeTrace(const std::vector<const Trace*>& traces, const Executable& executable);

} // namespace dfc
