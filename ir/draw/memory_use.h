// memoryUse: when each value of a plan holds its bytes, and how many bytes of each device's arena are held
// over time. A value lives from the begin of the step that makes it to the end of the last step that reads
// it; parameters, constants and fetched values live to the end.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/trace_step.h"

#include <vector>

namespace dfc {

/// Seconds from the start of the step.
struct ValueLife {
  ValueId value;
  double begin = 0, end = 0;
};

struct MemoryPoint {
  double at = 0;     ///< seconds
  int64_t bytes = 0; ///< held from then on
};

struct MemoryUse {
  std::vector<ValueLife> lives; ///< of values that have bytes, by id
  /// By time, the first at 0. Bytes that several values share are counted once: a result may overwrite its
  /// operand, a view has no bytes of its own.
  SideTable<DeviceId, std::vector<MemoryPoint>> held;
};

/// By the times of one step, predicted or measured.
MemoryUse memoryUse(const Executable& plan, const TraceStep& step);

} // namespace dfc
