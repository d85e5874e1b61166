// Names of queues and the best of the lower bounds.
#include "ir/plan/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {

std::string_view name(QueueKind kind) {
  switch (kind) {
  case QueueKind::Compute: return "compute";
  case QueueKind::CopyIn: return "copyIn";
  case QueueKind::CopyOut: return "copyOut";
  case QueueKind::Peer: return "peer";
  }
  DFC_UNREACHABLE("queue kind");
}

double LowerBounds::best() const { return std::max({criticalPath, busiestQueue, busiestLink}); }

std::string Schedule::nameOf(QueueId queue, const Machine& machine) const {
  const QueueRow& row = queues[queue];
  const auto alike = std::count_if(queues.begin(), queues.end(), [&](const QueueRow& other) {
    return other.device == row.device && other.kind == row.kind;
  });
  const std::string text = fmt::format("{} {}", machine.devices[row.device].name, name(row.kind));
  return alike > 1 ? fmt::format("{} {}", text, row.index) : text;
}

} // namespace dfc
