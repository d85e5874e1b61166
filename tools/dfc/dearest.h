// What a measured step spends its time on: the ten dearest ops, op kinds and scopes of `dfc view --trace`.
#pragma once

#include "ir/draw/trace_dot.h"

#include <string>
#include <vector>

namespace dfc::tool {

/// A sum over spans. Seconds of queues that work at once are added.
struct DearRow {
  std::string name;
  size_t count = 0;            ///< of spans
  double seconds = 0;          ///< measured
  double predictedSeconds = 0; ///< 0 where none is predicted
  double share = 0;            ///< of the measured seconds of all spans
};

struct Dearest {
  std::vector<DearRow> ops, kinds, scopes; ///< at most ten of each, the dearest first
};

Dearest dearestOf(const TraceComparison& comparison);
/// Three tables.
std::string dearestText(const TraceComparison& comparison);

} // namespace dfc::tool
