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
  /// The backend that ran each device of the machine ("cpu", "cuda", "emulated", "null"), in the machine's
  /// order; "" for an unused device. Empty for predicted traces, and where it is not known.
  std::vector<std::string> backends;
  double makespan() const; ///< from the first begin to the last end
};

/// The schedule's own predicted times as a trace.
Trace predictedTrace(const Executable& executable);

/// Seconds in which at least one transfer and one computation were both under way.
double overlapSeconds(const Trace& trace, const Executable& executable);

/// The emulated and null devices of a trace, one sentence for each backend: "gpu0, gpu1 were emulated by the
/// host: measured times there are not those of a GPU". "" for a trace without such devices or backends.
std::string standInText(const std::vector<std::string>& backends, const Machine& machine);

/// Chrome trace-event JSON (opens in Perfetto and chrome://tracing): a process per trace, a thread per queue.
std::string chromeTrace(const std::vector<const Trace*>& traces, const Executable& executable);

} // namespace dfc
